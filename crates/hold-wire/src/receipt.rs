//! The receipt that a holder issues for a program that it ended.

use crate::bytes::{ByteReader, ByteWriter};

/// The maximum number of survivors that are listed by name.
pub const SURVIVOR_LIMIT: usize = 32;

/// The reason why a held program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldEnd {
    /// Its lease expired.
    Lease,
    /// A runtime aborted it.
    Aborted,
    /// A client requested its end.
    Asked,
    /// It exceeded a limit.
    Limit,
}

impl HeldEnd {
    /// The reason as a word, as in the receipt file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lease => "lease",
            Self::Aborted => "aborted",
            Self::Asked => "asked",
            Self::Limit => "limit",
        }
    }
}

/// The final report of a holder: how many processes it ended, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldReceipt {
    /// The reason.
    pub reason: HeldEnd,
    /// How many processes were ended.
    pub ended: u32,
    /// Processes that could not be ended, with pid and name.
    pub survivors: Vec<(u32, String)>,
    /// The wait status of the program, if it is known.
    pub status: Option<i32>,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The exceeded limit, by its name in the configuration.
    pub limit: Option<String>,
}

impl HoldReceipt {
    pub(crate) fn write_to(&self, writer: ByteWriter) -> ByteWriter {
        let reason = match self.reason {
            HeldEnd::Lease => 0,
            HeldEnd::Aborted => 1,
            HeldEnd::Asked => 2,
            HeldEnd::Limit => 3,
        };
        let survivors = &self.survivors[..self.survivors.len().min(SURVIVOR_LIMIT)];
        let count = u32::try_from(survivors.len()).unwrap_or(0);
        let writer = writer
            .u8(reason)
            .u32(self.ended)
            .status(self.status)
            .u64(self.at)
            .u32(count);
        let writer = survivors.iter().fold(writer, |writer, (pid, name)| {
            writer.u32(*pid).bytes(name.as_bytes())
        });
        writer.bytes(self.limit.as_deref().unwrap_or_default().as_bytes())
    }

    pub(crate) fn read_from(reader: &mut ByteReader<'_>) -> Option<Self> {
        let reason = match reader.u8()? {
            0 => HeldEnd::Lease,
            1 => HeldEnd::Aborted,
            3 => HeldEnd::Limit,
            _ => HeldEnd::Asked,
        };
        let ended = reader.u32()?;
        let status = reader.status()?;
        let at = reader.u64()?;
        let count = reader.u32()?;
        let survivor = |reader: &mut ByteReader<'_>| {
            let pid = reader.u32()?;
            let name = String::from_utf8_lossy(reader.bytes()?).into_owned();
            Some((pid, name))
        };
        let survivors = (0..count)
            .map(|_| survivor(reader))
            .collect::<Option<_>>()?;
        // Earlier versions do not send the limit.
        let limit = if reader.0.is_empty() {
            String::new()
        } else {
            reader.text()?
        };
        Some(Self {
            reason,
            ended,
            survivors,
            status,
            at,
            limit: Some(limit).filter(|limit| !limit.is_empty()),
        })
    }

    /// The receipt as the JSON object of the receipt file.
    pub fn to_json(&self) -> String {
        let status = self.status;
        let status = status.map_or("null".to_owned(), |status| status.to_string());
        let survivors: Vec<String> = self
            .survivors
            .iter()
            .map(|(pid, _)| pid.to_string())
            .collect();
        // The names of limits need no escaping.
        let limit = self.limit.as_ref();
        let limit = limit.map_or("null".to_owned(), |limit| format!("\"{limit}\""));
        format!(
            "{{\"reason\":\"{}\",\"ended\":{},\"survivors\":[{}],\"status\":{status},\"at\":{},\"limit\":{limit}}}\n",
            self.reason.as_str(),
            self.ended,
            survivors.join(","),
            self.at
        )
    }
}
