//! Random text that cannot be guessed: for an address, and for what only scripts of our own may know.

use std::fs::File;
use std::io::{self, Read as _};

/// 128 bits in hexadecimal digits.
pub(crate) fn secret() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
