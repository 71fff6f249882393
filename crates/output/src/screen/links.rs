//! Hyperlinks of text (OSC 8), within a memory bound.
//!
//! Start at [`Emulator::set_link`]. Cells share the address of their link. The
//! address is untrusted: check it before opening it.

use alacritty_terminal::term::cell::Hyperlink;

use super::emulator::{Emulator, line};

/// The longest address that is kept.
const LONGEST: usize = 2048;
/// The number of bytes of addresses kept at once.
const LIMIT: usize = 64 * 1024;

/// The addresses that cells may refer to.
#[derive(Default)]
pub(super) struct Links {
    known: Vec<Hyperlink>,
    bytes: usize,
}

impl Emulator {
    /// Puts a link under the text that is written next, or ends the one that is.
    pub(super) fn set_link(&mut self, address: &[&[u8]]) {
        let link = self.link(&address.join(&b';'));
        self.grid.cursor.template.set_hyperlink(link);
    }

    /// `None` for no address, and for one that cannot be kept.
    fn link(&mut self, address: &[u8]) -> Option<Hyperlink> {
        let address = std::str::from_utf8(address).ok()?;
        if address.is_empty() || address.len() > LONGEST || address.chars().any(char::is_control) {
            return None;
        }
        if let Some(known) = self.links.known.iter().find(|link| link.uri() == address) {
            return Some(known.clone());
        }
        if self.links.bytes + address.len() > LIMIT {
            self.forget_unused_links();
            if self.links.bytes + address.len() > LIMIT {
                return None;
            }
        }
        let link = Hyperlink::new(None::<String>, address.to_owned());
        self.links.bytes += address.len();
        self.links.known.push(link.clone());
        Some(link)
    }

    /// Keeps only the addresses that a cell of either screen refers to.
    fn forget_unused_links(&mut self) {
        let mut used = Vec::new();
        for grid in [&self.grid, &self.other] {
            let cells = (0..self.row_count()).flat_map(|row| &grid[line(row)][..]);
            for cell in cells.filter(|cell| cell.extra.is_some()) {
                if let Some(link) = cell.hyperlink()
                    && !used.contains(&link)
                {
                    used.push(link);
                }
            }
        }
        self.links.bytes = used.iter().map(|link| link.uri().len()).sum();
        self.links.known = used;
    }
}
