//! The fields of a message of protobuf, one after the other, where they stand.
//!
//! prost's own messages would hold an element of two bytes in hundreds, and a hostile export in gigabytes.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::signal::Unreadable;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'b [u8]),
}

/// The fields of a message, with their numbers.
#[derive(Clone, Debug)]
pub(super) struct Fields<'b>(&'b [u8]);

pub(super) fn fields(message: &[u8]) -> Fields<'_> {
    Fields(message)
}

fn broken(why: impl std::fmt::Display) -> Unreadable {
    Unreadable(format!("the body is no message of OTLP in protobuf: {why}"))
}

impl<'b> Fields<'b> {
    fn take(&mut self, length: u64) -> Result<&'b [u8], Unreadable> {
        let length = usize::try_from(length).ok();
        let (taken, rest) = length
            .and_then(|length| self.0.split_at_checked(length))
            .ok_or_else(|| broken("a field ends behind the end"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| broken("a number ends too early"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn read(&mut self) -> Result<Option<(u32, Field<'b>)>, Unreadable> {
        while !self.0.is_empty() {
            let (number, wire) = decode_key(&mut self.0).map_err(broken)?;
            let field = match wire {
                WireType::Varint => Field::Varint(decode_varint(&mut self.0).map_err(broken)?),
                WireType::SixtyFourBit => Field::Fixed64(u64::from_le_bytes(self.array()?)),
                WireType::ThirtyTwoBit => Field::Fixed32(u32::from_le_bytes(self.array()?)),
                WireType::LengthDelimited => {
                    let length = decode_varint(&mut self.0).map_err(broken)?;
                    Field::Bytes(self.take(length)?)
                }
                // No message of OTLP has groups, which may stand there all the same.
                WireType::StartGroup | WireType::EndGroup => {
                    skip_field(wire, number, &mut self.0, DecodeContext::default()).map_err(broken)?;
                    continue;
                }
            };
            return Ok(Some((number, field)));
        }
        Ok(None)
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u32, Field<'b>), Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            // What follows has no beginning.
            self.0 = &[];
        }
        read.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<(u32, Field<'_>)>, Unreadable> {
        fields(bytes).collect()
    }

    #[test]
    fn fields_are_read_one_by_one() {
        let message = [
            0x08, 0x96, 0x01, // 1: 150
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x1b, 0x08, 0x01, 0x1c, // 3: a group
            0x25, 1, 0, 0, 0, // 4: a fixed32
            0x29, 2, 0, 0, 0, 0, 0, 0, 0, // 5: a fixed64
        ];
        let expected = [
            (1, Field::Varint(150)),
            (2, Field::Bytes(b"hi")),
            (4, Field::Fixed32(1)),
            (5, Field::Fixed64(2)),
        ];
        assert_eq!(read(&message).unwrap(), expected);
        assert!(read(b"").unwrap().is_empty());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let wrong: [&[u8]; 8] = [
            b"{}",
            &[0x12, 0x05, b'h'],
            &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x08],
            &[0x25, 1, 0],
            &[0x1b, 0x08, 0x01],
            &[0x1c],
            &[0x00, 0x00],
        ];
        for bytes in wrong {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(&vec![0x1b; 100_000]).is_err(), "groups in groups");
    }
}
