//! Encodes and decodes numbers and strings.

use std::time::Duration;

/// Reads values from the front of a message.
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn duration(&mut self) -> Option<Duration> {
        self.u64().map(Duration::from_millis)
    }

    /// An optional wait status, preceded by a presence flag.
    #[expect(
        clippy::option_option,
        reason = "the message may be cut short, and the status may be missing"
    )]
    pub(crate) fn status(&mut self) -> Option<Option<i32>> {
        let is_there = self.u8()? != 0;
        let status = self.u32()?.cast_signed();
        Some(is_there.then_some(status))
    }

    /// A length-prefixed string. Invalid UTF-8 is replaced.
    pub(crate) fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// A list, preceded by its number of elements.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.u32()?;
        // Never allocate for an impossible count: each value takes at least one byte.
        let mut values = Vec::with_capacity(self.0.len().min(count as usize).min(64));
        for _ in 0..count {
            values.push(read(self)?);
        }
        Some(values)
    }

    /// An optional value, preceded by a presence flag.
    #[expect(
        clippy::option_option,
        reason = "the message may be cut short, and the value may be missing"
    )]
    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.u8()? {
            0 => Some(None),
            _ => read(self).map(Some),
        }
    }

    /// Length-prefixed bytes.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// Appends values to a message.
#[derive(Default)]
pub(crate) struct ByteWriter(pub(crate) Vec<u8>);

impl ByteWriter {
    pub(crate) fn new(kind: u8) -> Self {
        Self(vec![kind])
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(self, number: u8) -> Self {
        self.raw(&[number])
    }

    pub(crate) fn u16(self, number: u16) -> Self {
        self.raw(&number.to_le_bytes())
    }

    pub(crate) fn u32(self, number: u32) -> Self {
        self.raw(&number.to_le_bytes())
    }

    pub(crate) fn u64(self, number: u64) -> Self {
        self.raw(&number.to_le_bytes())
    }

    pub(crate) fn duration(self, duration: Duration) -> Self {
        self.u64(duration.as_millis().try_into().unwrap_or(u64::MAX))
    }

    pub(crate) fn status(self, status: Option<i32>) -> Self {
        self.u8(u8::from(status.is_some()))
            .u32(status.unwrap_or(0).cast_unsigned())
    }

    /// A list, preceded by its number of elements.
    pub(crate) fn list<T>(self, values: &[T], write: impl Fn(Self, &T) -> Self) -> Self {
        let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
        values.iter().fold(self.u32(count), write)
    }

    /// An optional value, preceded by a presence flag.
    pub(crate) fn option<T>(self, value: Option<&T>, write: impl FnOnce(Self, &T) -> Self) -> Self {
        match value {
            Some(value) => write(self.u8(1), value),
            None => self.u8(0),
        }
    }

    /// Length-prefixed bytes, truncated at 4 GiB.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let bytes = &bytes[..bytes.len().min(length as usize)];
        self.u32(length).raw(bytes)
    }
}
