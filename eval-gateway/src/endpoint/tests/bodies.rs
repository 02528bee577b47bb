//! Bodies of requests: packed, too large, with images.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::endpoint::body;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_packed_request_is_the_same_as_a_plain_one() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    let body = question("hi");
    let conversation = bench.record();
    let packed = gzip(body.as_bytes());
    post(&address(&conversation), CHAT, &[("content-encoding", "gzip")], &packed);
    assert_eq!(conversation.end(true).error, None);
    let asked = &bench.provider.requests()[0];
    assert_eq!(asked.body, body, "the provider gets it plain");
    assert!(!asked.head.contains("content-encoding"), "{asked:?}");

    let mut packings: Vec<(&str, Vec<u8>)> = vec![
        ("identity", body.clone().into_bytes()),
        ("GZIP", packed),
        ("deflate", deflate(body.as_bytes())),
        ("deflate, gzip", gzip(&deflate(body.as_bytes()))),
    ];
    if cfg!(feature = "https") {
        packings.push(("zstd", ZSTD.to_vec()));
        packings.push(("br", BROTLI.to_vec()));
    }
    for (packing, bytes) in packings {
        let replay = bench.replay();
        let answered = post(&address(&replay), CHAT, &[("content-encoding", packing)], &bytes);
        assert!(answered.status == 200 && answered.body.contains("hello"), "{packing}: {answered:?}");
        assert_replayed(&replay.end(true));
    }
}

/// `{"model":"m","messages":[{"role":"user","content":"hi"}]}` in two more packings.
#[rustfmt::skip]
const ZSTD: &[u8] = &[40, 181, 47, 253, 32, 57, 201, 1, 0, 123, 34, 109, 111, 100, 101, 108, 34, 58, 34, 109, 34, 44, 34, 109, 101, 115, 115, 97, 103, 101, 115, 34, 58, 91, 123, 34, 114, 111, 108, 101, 34, 58, 34, 117, 115, 101, 114, 34, 44, 34, 99, 111, 110, 116, 101, 110, 116, 34, 58, 34, 104, 105, 34, 125, 93, 125];
#[rustfmt::skip]
const BROTLI: &[u8] = &[128, 3, 16, 123, 34, 109, 111, 100, 101, 108, 34, 58, 34, 109, 34, 44, 34, 109, 101, 115, 115, 97, 103, 101, 115, 34, 58, 91, 123, 34, 114, 111, 108, 101, 34, 58, 34, 117, 115, 101, 114, 34, 44, 34, 99, 111, 110, 116, 101, 110, 116, 34, 58, 34, 104, 105, 34, 125, 93, 125, 3];

#[test]
fn a_request_that_cannot_be_unpacked_or_is_too_large_is_an_error_with_the_reason() {
    let bench = Bench::new();
    let bomb = gzip(&vec![b' '; body::MAX_BODY_BYTES + 1]);
    let large = (body::MAX_BODY_BYTES + 1).to_string();
    for (packing, bytes, expected) in [
        ("gzip", &b"no gzip"[..], "the body of a call of a model cannot be unpacked"),
        ("gzip", &bomb, "a call of a model has more than 64 MiB, which is the limit"),
        ("snappy", b"{}", "a call of a model is packed (snappy), which the gateway does not read"),
    ] {
        let conversation = bench.record();
        let answered = post(&address(&conversation), CHAT, &[("content-encoding", packing)], bytes);
        assert_eq!(answered.status, 400, "{answered:?}");
        assert_eq!(answered.header("x-should-retry"), Some("false"));
        assert!(answered.body.contains(expected), "{answered:?}");
        assert!(conversation.misses()[0].message.starts_with(expected), "{:?}", conversation.misses());
    }
    // The length that the head says is enough, and so are pieces without a length.
    let conversation = bench.record();
    let address = address(&conversation);
    let (host, base) = client::host_and_path(&address);
    let head = format!("POST {base}{CHAT} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    let said_length = format!("{head}content-length: {large}\r\n\r\n");
    let answered = client::send(host, said_length.as_bytes());
    assert!(answered.status == 400 && answered.body.contains("64 MiB"), "{answered:?}");
    let mut pieces = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..65 {
        pieces.extend_from_slice(b"100000\r\n");
        pieces.resize(pieces.len() + (1 << 20), b' ');
        pieces.extend_from_slice(b"\r\n");
    }
    pieces.extend_from_slice(b"0\r\n\r\n");
    drop(client::send(host, &pieces));
    assert!(conversation.misses()[1].message.contains("more than 64 MiB"), "{:?}", conversation.misses());
    assert!(bench.provider.requests().is_empty(), "nothing was sent to the provider");
    assert!(bench.files().is_empty());
}

#[test]
fn a_request_in_chunks_is_the_same_as_one_with_a_length() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    let body = question("hi");
    bench.recorded(CHAT, &body);
    for most in [1, 7, body.len()] {
        let replay = bench.replay();
        let address = address(&replay);
        let (host, base) = client::host_and_path(&address);
        let mut request = format!(
            "POST {base}{CHAT} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        for chunk in body.as_bytes().chunks(most) {
            request.push_str(&format!("{:x}\r\n{}\r\n", chunk.len(), String::from_utf8_lossy(chunk)));
        }
        request.push_str("0\r\n\r\n");
        let answered = client::send(host, request.as_bytes());
        assert!(answered.status == 200 && answered.body.contains("hello"), "{answered:?}");
        assert_replayed(&replay.end(true));
    }
}

/// An image of 2 MB with one pixel of this colour.
fn image(turn: u8, pixel: u8) -> String {
    let mut bytes: Vec<u8> =
        (0..2_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8 ^ turn).collect();
    bytes[1_000_000] = pixel;
    STANDARD.encode(bytes)
}

#[test]
fn five_turns_with_an_image_of_2_mb_each_make_a_small_file_and_one_pixel_is_a_miss() {
    let bench = Bench::new();
    let turns = |pixel: u8| {
        let message = |turn: u8| {
            let url = format!("data:image/png;base64,{}", image(turn, if turn == 3 { pixel } else { 0 }));
            format!(
                r#"{{"role":"user","content":[{{"type":"text","text":"turn {turn}"}},{{"type":"image_url","image_url":{{"url":"{url}"}}}}]}}"#
            )
        };
        let mut messages: Vec<String> = Vec::new();
        (1..=5)
            .map(|turn| {
                messages.push(message(turn));
                let body = format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","));
                messages.push(format!(r#"{{"role":"assistant","content":"answer {turn}"}}"#));
                body
            })
            .collect::<Vec<String>>()
    };
    let play = |conversation: &Conversation, bodies: &[String]| {
        for (at, body) in bodies.iter().enumerate() {
            if at > 0 {
                conversation.begin_turn("hi");
            }
            post(&address(conversation), CHAT, &[], body.as_bytes());
        }
    };
    let bodies = turns(0);
    (1..=5).for_each(|turn| bench.provider.says_json(&said(&format!("answer {turn}"))));
    let conversation = bench.record();
    play(&conversation, &bodies);
    assert_eq!(conversation.end(true).error, None);
    let size: usize = bench.files().values().map(String::len).sum();
    assert!(size < 50_000, "{size} bytes");

    let replay = bench.replay();
    play(&replay, &bodies);
    assert_replayed(&replay.end(true));
    let replay = bench.replay();
    play(&replay, &turns(1));
    let misses = replay.misses();
    // Nothing is asked after a miss.
    assert_eq!((misses.len(), misses[0].turn), (1, 3), "{misses:?}");
    let message = &misses[0].message;
    assert!(
        message.contains("the messages changed") && message.contains("(image/png, 2000000 bytes, sha256 "),
        "{message}"
    );
}
