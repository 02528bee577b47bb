//! Exports in protobuf, written as the JSON that stored traces have.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::export::{
    Collector, Entry, Export, MAX_ENTRY_BYTES, Signal, Span, Unreadable, hash, is_remote, trace_id,
};

/// The reason why a span or record is rejected.
type Reason = String;

/// The deepest nesting of values.
const MAX_NESTING: usize = 40;

/// The fields of a message that are written: the number, the name in JSON, and the kind.
type Table = &'static [(u32, &'static str, Kind)];

#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// OTLP's JSON writes 64-bit numbers in quotes.
    Time,
    Int,
    Double,
    Bool,
    Code,
    Hex,
    Base64,
    Value,
    Message(Table),
    /// A field that is there once for each element.
    List(Table),
    /// A message whose field 1 has the elements.
    Values(fn(&mut Writer, &[u8], usize) -> Result<(), Reason>),
}

const KEY_VALUE: Table = &[(1, "key", Kind::Text), (2, "value", Kind::Value)];

const RESOURCE: Table = &[(1, "attributes", Kind::List(KEY_VALUE))];

const SCOPE: Table = &[(1, "name", Kind::Text), (3, "attributes", Kind::List(KEY_VALUE))];

/// The ids of a span are written apart.
const SPAN: Table = &[
    (5, "name", Kind::Text),
    (7, "startTimeUnixNano", Kind::Time),
    (8, "endTimeUnixNano", Kind::Time),
    (9, "attributes", Kind::List(KEY_VALUE)),
    (11, "events", Kind::List(EVENT)),
    (15, "status", Kind::Message(&[(2, "message", Kind::Text), (3, "code", Kind::Code)])),
];

const EVENT: Table =
    &[(1, "timeUnixNano", Kind::Time), (2, "name", Kind::Text), (3, "attributes", Kind::List(KEY_VALUE))];

/// The id of the trace of a record is written apart.
const RECORD: Table = &[
    (1, "timeUnixNano", Kind::Time),
    (5, "body", Kind::Value),
    (6, "attributes", Kind::List(KEY_VALUE)),
    (10, "spanId", Kind::Hex),
    (11, "observedTimeUnixNano", Kind::Time),
    (12, "eventName", Kind::Text),
];

const VALUE: Table = &[
    (1, "stringValue", Kind::Text),
    (2, "boolValue", Kind::Bool),
    (3, "intValue", Kind::Int),
    (4, "doubleValue", Kind::Double),
    (5, "arrayValue", Kind::Values(Writer::value)),
    (6, "kvlistValue", Kind::Values(|writer, item, depth| writer.object(item, KEY_VALUE, depth))),
    (7, "bytesValue", Kind::Base64),
];

pub(super) fn read(signal: Signal, bytes: &[u8]) -> Result<Export, Unreadable> {
    let mut collector = Collector::new(signal);
    for resource in messages(bytes, 1) {
        let resource = resource?;
        let own = text_of(resource, RESOURCE)?;
        for scope in messages(resource, 2) {
            let scope = scope?;
            let named = text_of(scope, SCOPE)?;
            let around = collector.scope(&own, &named);
            for item in messages(scope, 2) {
                let read = if signal == Signal::Logs { record(item?) } else { span(item?).map(Some) };
                match read {
                    Ok(Some((trace, entry, text))) => collector.add(&around, trace, entry, &text),
                    Ok(None) => {}
                    Err(why) => collector.reject(why),
                }
            }
        }
    }
    Ok(collector.end())
}

fn messages(message: &[u8], number: u32) -> impl Iterator<Item = Result<&[u8], Unreadable>> {
    Fields(message).filter_map(move |field| match field {
        Ok((found, Field::Bytes(bytes))) if found == number => Some(Ok(bytes)),
        Ok((found, _)) if found == number => {
            Some(Err(Unreadable(format!("the field {number} is no message"))))
        }
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// The first message in field 1, which is empty if there is none, as JSON.
fn text_of(message: &[u8], table: Table) -> Result<String, Unreadable> {
    let mut writer = Writer(String::new());
    let own = messages(message, 1).next().unwrap_or(Ok(&[]))?;
    writer.object(own, table, 0).map_err(Unreadable)?;
    Ok(writer.0)
}

/// The trace, the head and the JSON of a span.
fn span(message: &[u8]) -> Result<(u128, Entry, String), Reason> {
    let (mut trace, mut id, mut parent) = (&[][..], &[][..], &[][..]);
    let (mut flags, mut cut) = (0, 0_u64);
    for field in Fields(message) {
        match field.map_err(|error| error.0)? {
            (1, Field::Bytes(bytes)) => trace = bytes,
            (2, Field::Bytes(bytes)) => id = bytes,
            (4, Field::Bytes(bytes)) => parent = bytes,
            (10 | 12, Field::Varint(count)) => cut = cut.saturating_add(count),
            (16, Field::Fixed32(value)) => flags = u64::from(value),
            _ => {}
        }
    }
    let trace = <[u8; 16]>::try_from(trace).map_or(0, u128::from_be_bytes);
    let id = <[u8; 8]>::try_from(id).map_or(0, u64::from_be_bytes);
    if trace == 0 {
        return Err("a span has no id of its trace of 16 bytes".to_owned());
    }
    if id == 0 {
        return Err("a span has no id of 8 bytes".to_owned());
    }
    let parent = match parent {
        [] => 0,
        bytes => {
            u64::from_be_bytes(bytes.try_into().map_err(|_| "a span has a parent whose id has not 8 bytes")?)
        }
    };
    let parent = Some(parent).filter(|parent| *parent != 0);
    let mut writer = Writer(String::from("{"));
    writer.entry("traceId", &format!("\"{}\"", trace_id(trace)))?;
    writer.entry("spanId", &format!("\"{id:016x}\""))?;
    if let Some(parent) = parent {
        writer.entry("parentSpanId", &format!("\"{parent:016x}\""))?;
    }
    writer.fields(message, SPAN, 0)?;
    let text = writer.0 + "}";
    let hash = hash(&text);
    Ok((trace, Entry::Span(Span { id, parent, is_remote: is_remote(flags), is_cut: cut > 0, hash }), text))
}

/// The trace and the JSON of a record of a log; `None` if it is not about models.
fn record(message: &[u8]) -> Result<Option<(u128, Entry, String)>, Reason> {
    let mut writer = Writer(String::from("{"));
    writer.fields(message, RECORD, 0)?;
    if !writer.0.contains("gen_ai.") {
        return Ok(None);
    }
    let ids = Fields(message).flatten().filter_map(|field| match field {
        (9, Field::Bytes(id)) => Some(id),
        _ => None,
    });
    let trace = ids.last().and_then(|id| id.try_into().ok()).map_or(0, u128::from_be_bytes);
    if trace == 0 {
        return Err("a record has no id of its trace of 16 bytes".to_owned());
    }
    writer.entry("traceId", &format!("\"{}\"", trace_id(trace)))?;
    let text = writer.0 + "}";
    Ok(Some((trace, Entry::Record { hash: hash(&text) }, text)))
}

struct Writer(String);

impl Writer {
    /// Begins another entry of an object, or another element of a list.
    fn next(&mut self, name: Option<&str>) -> Result<(), Reason> {
        // After a bracket, this is the first.
        if !matches!(self.0.as_bytes().last(), Some(b'[' | b'{')) {
            self.0.push(',');
        }
        if let Some(name) = name {
            self.0.push_str(&format!("\"{name}\":"));
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), Reason> {
        if self.0.len() > MAX_ENTRY_BYTES {
            return Err(format!("a span or record has more than {MAX_ENTRY_BYTES} bytes as JSON"));
        }
        Ok(())
    }

    fn entry(&mut self, name: &str, value: &str) -> Result<(), Reason> {
        self.next(Some(name))?;
        self.0.push_str(value);
        self.check_size()
    }

    fn object(&mut self, message: &[u8], table: Table, depth: usize) -> Result<(), Reason> {
        self.0.push('{');
        self.fields(message, table, depth)?;
        self.0.push('}');
        Ok(())
    }

    /// Writes the fields of a message in their order, then its lists that are not empty.
    fn fields(&mut self, message: &[u8], table: Table, depth: usize) -> Result<(), Reason> {
        for field in Fields(message) {
            let (number, field) = field.map_err(|error| error.0)?;
            self.field(number, field, table, depth)?;
        }
        for (number, name, kind) in table {
            let Kind::List(of) = kind else { continue };
            let mut is_open = false;
            for field in Fields(message).flatten() {
                if let (found, Field::Bytes(item)) = field
                    && found == *number
                {
                    if !is_open {
                        self.entry(name, "[")?;
                        is_open = true;
                    }
                    self.next(None)?;
                    self.object(item, of, depth)?;
                }
            }
            if is_open {
                self.0.push(']');
            }
        }
        Ok(())
    }

    /// Writes a field, if it is in the table, and no list.
    fn field(&mut self, number: u32, field: Field<'_>, table: Table, depth: usize) -> Result<(), Reason> {
        let Some((_, name, kind)) = table.iter().find(|(known, ..)| *known == number) else { return Ok(()) };
        let text = match (kind, field) {
            (Kind::Text, Field::Bytes(bytes)) => {
                let text = str::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
                serde_json::to_string(text).map_err(|error| error.to_string())?
            }
            (Kind::Time, Field::Fixed64(time)) => format!("\"{time}\""),
            (Kind::Int, Field::Varint(number)) => format!("\"{}\"", number.cast_signed()),
            (Kind::Double, Field::Fixed64(bits)) => match f64::from_bits(bits) {
                // JSON has no NaN and no infinity, so OTLP's JSON writes them as strings.
                number if number.is_nan() => "\"NaN\"".to_owned(),
                f64::INFINITY => "\"Infinity\"".to_owned(),
                f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
                number => serde_json::to_string(&number).map_err(|error| error.to_string())?,
            },
            (Kind::Bool, Field::Varint(number)) => (number != 0).to_string(),
            (Kind::Code, Field::Varint(code)) => code.to_string(),
            (Kind::Hex, Field::Bytes(id)) => {
                let hex = id.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
                format!("\"{hex}\"")
            }
            (Kind::Base64, Field::Bytes(bytes)) => format!("\"{}\"", BASE64.encode(bytes)),
            (Kind::Value, Field::Bytes(value)) => {
                self.next(Some(name))?;
                return self.value(value, depth);
            }
            (Kind::Message(table), Field::Bytes(message)) => {
                self.next(Some(name))?;
                return self.object(message, table, depth);
            }
            (Kind::Values(write), Field::Bytes(list)) => {
                self.entry(name, "{\"values\":[")?;
                for value in messages(list, 1) {
                    self.next(None)?;
                    write(self, value.map_err(|error| error.0)?, depth + 1)?;
                }
                self.0.push_str("]}");
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.entry(name, &text)
    }

    /// Writes an `AnyValue`. The last member of its `oneof` counts.
    fn value(&mut self, message: &[u8], depth: usize) -> Result<(), Reason> {
        if depth > MAX_NESTING {
            return Err("a value is nested too deeply".to_owned());
        }
        let chosen = Fields(message).try_fold(None, |_, field| field.map(Some));
        self.0.push('{');
        if let Some((number, field)) = chosen.map_err(|error| error.0)? {
            self.field(number, field, VALUE, depth)?;
        }
        self.0.push('}');
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'b [u8]),
}

/// An iterator over the fields of a message, with their numbers. It copies nothing.
///
/// prost's own messages would take hundreds of bytes for an element of two, and gigabytes for a hostile
/// export.
#[derive(Clone, Debug)]
struct Fields<'b>(&'b [u8]);

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
                // No message of OTLP has groups, but a sender may write them.
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
            // After an error, the beginning of the next field is unknown.
            self.0 = &[];
        }
        read.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field with a message, or a text.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut message = vec![number << 3 | 2];
        prost::encoding::encode_varint(u64::try_from(bytes.len()).unwrap(), &mut message);
        message.extend_from_slice(bytes);
        message
    }

    fn span(more: &[u8]) -> Vec<u8> {
        [
            field(1, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            field(2, &[0, 0, 0, 0, 0, 0, 0, 2]),
            more.to_vec(),
        ]
        .concat()
    }

    fn export(spans: &[Vec<u8>]) -> Export {
        let spans: Vec<u8> = spans.iter().flat_map(|span| field(2, span)).collect();
        read(Signal::Traces, &field(1, &field(2, &spans))).unwrap()
    }

    fn attribute(value: &[u8]) -> Vec<u8> {
        field(9, &[field(1, b"k"), field(2, value)].concat())
    }

    #[test]
    fn values_of_all_kinds_are_written_as_json() {
        let fixed = |number: u8, bits: u64| [&[number << 3 | 1][..], &bits.to_le_bytes()].concat();
        let table: [(Vec<u8>, &str); 12] = [
            (field(1, "a\"\u{e9}".as_bytes()), "{\"stringValue\":\"a\\\"\u{e9}\"}"),
            (vec![0x10, 1], "{\"boolValue\":true}"),
            (vec![0x10, 0], "{\"boolValue\":false}"),
            (vec![0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "{\"intValue\":\"-1\"}"),
            (fixed(4, 1.5_f64.to_bits()), "{\"doubleValue\":1.5}"),
            (fixed(4, f64::NAN.to_bits()), "{\"doubleValue\":\"NaN\"}"),
            (fixed(4, f64::NEG_INFINITY.to_bits()), "{\"doubleValue\":\"-Infinity\"}"),
            (
                field(5, &[field(1, &field(1, b"a")), field(1, b"")].concat()),
                "{\"arrayValue\":{\"values\":[{\"stringValue\":\"a\"},{}]}}",
            ),
            (
                field(6, &field(1, &[field(1, b"x"), field(2, &[0x18, 7])].concat())),
                "{\"kvlistValue\":{\"values\":[{\"key\":\"x\",\"value\":{\"intValue\":\"7\"}}]}}",
            ),
            (field(7, b"hello"), "{\"bytesValue\":\"aGVsbG8=\"}"),
            (Vec::new(), "{}"),
            (field(5, b""), "{\"arrayValue\":{\"values\":[]}}"),
        ];
        for (value, expected) in table {
            let export = export(&[span(&attribute(&value))]);
            let expected = format!("\"attributes\":[{{\"key\":\"k\",\"value\":{expected}}}]");
            assert!(export.batches[0].text().contains(&expected), "{}: {expected}", export.batches[0].text());
        }
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|it| BASE64.encode(it.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }

    #[test]
    fn a_span_that_cannot_be_read_is_rejected_and_the_others_are_kept() {
        let deep = (0..60).fold(field(1, b"x"), |value, _| field(5, &field(1, &value)));
        let table = [
            (field(2, &[0, 0, 0, 0, 0, 0, 0, 2]), "its trace"),
            (field(1, &[1; 16]), "no id of 8"),
            (span(&field(4, &[1; 7])), "parent"),
            (span(&field(5, b"\xff")), "UTF-8"),
            (span(&attribute(&deep)), "deeply"),
            (span(&[0x4a, 0x7f]), "behind the end"),
            (span(&field(9, b"").repeat(4 << 20)), "bytes as JSON"),
        ];
        for (wrong, why) in table {
            let read = export(&[span(b""), wrong]);
            let rejected = read.rejected.unwrap();
            assert_eq!((read.batches.len(), rejected.count), (1, 1), "{why}");
            assert!(rejected.why.contains(why), "{why}: {}", rejected.why);
        }
    }

    #[test]
    fn flags_parents_and_counts_are_read() {
        let head = |more: &[u8]| match export(&[span(more)]).batches[0].entries().next() {
            Some(Entry::Span(head)) => head,
            other => panic!("{other:?}"),
        };
        assert_eq!(head(&field(4, &[0, 0, 0, 0, 0, 0, 0, 9])).parent, Some(9));
        assert_eq!(head(&field(4, &[0; 8])).parent, None);
        assert!(head(&[0x85, 0x01, 0x00, 0x03, 0, 0]).is_remote);
        assert!(!head(&[0x85, 0x01, 0x00, 0x01, 0, 0]).is_remote);
        assert!(head(&[0x50, 1]).is_cut && head(&[0x60, 1]).is_cut && !head(&[0x70, 1]).is_cut);
    }

    #[test]
    fn what_is_no_export_is_unreadable() {
        for wrong in [&b"{}"[..], &[0x0a, 0x05, 0x00], &[0x08, 0x01], &field(1, &[0x12, 0x09])] {
            assert!(read(Signal::Traces, wrong).is_err(), "{wrong:?}");
        }
        assert!(read(Signal::Traces, b"").unwrap().batches.is_empty());
    }

    fn fields_of(bytes: &[u8]) -> Result<Vec<(u32, Field<'_>)>, Unreadable> {
        Fields(bytes).collect()
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
        assert_eq!(fields_of(&message).unwrap(), expected);
        assert!(fields_of(b"").unwrap().is_empty());
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
            assert!(fields_of(bytes).is_err(), "{bytes:?}");
        }
        assert!(fields_of(&vec![0x1b; 100_000]).is_err(), "groups in groups");
    }
}
