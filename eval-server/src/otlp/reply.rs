//! Answers to exports, in the encoding of the request.

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use prost::encoding::{int64, string};
use serde_json::json;

use super::export::{Encoding, Rejected, Signal};
use crate::answer;

/// An `ExportTraceServiceResponse` or `ExportLogsServiceResponse`, with the `rejected` entries.
pub(crate) fn stored(signal: Signal, encoding: Encoding, rejected: Option<&Rejected>) -> Response {
    match encoding {
        Encoding::Json => {
            let document = match rejected {
                None => json!({}),
                Some(Rejected { count, why }) => {
                    let counted = if signal == Signal::Logs { "rejectedLogRecords" } else { "rejectedSpans" };
                    json!({ "partialSuccess": { (counted): count.to_string(), "errorMessage": why } })
                }
            };
            answer::json(StatusCode::OK, &document)
        }
        Encoding::Protobuf => {
            let mut body = Vec::new();
            if let Some(Rejected { count, why }) = rejected {
                let mut partial = Vec::new();
                int64::encode(1, &i64::try_from(*count).unwrap_or(i64::MAX), &mut partial);
                string::encode(2, why, &mut partial);
                prost::encoding::bytes::encode(1, &partial, &mut body);
            }
            answer::of_bytes(StatusCode::OK, "application/x-protobuf", body)
        }
    }
}

/// The answer to an export that was refused, a `google.rpc.Status`. If it can be retried, `Retry-After` gives the time.
pub(crate) fn refused(encoding: Encoding, status: StatusCode, why: &str) -> Response {
    let code = match status {
        StatusCode::UNAUTHORIZED => 16,
        StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => 7,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => 12,
        StatusCode::REQUEST_TIMEOUT => 4,
        StatusCode::SERVICE_UNAVAILABLE => 14,
        StatusCode::INTERNAL_SERVER_ERROR => 13,
        _ => 3,
    };
    let mut response = match encoding {
        Encoding::Json => answer::json(status, &json!({ "code": code, "message": why })),
        Encoding::Protobuf => {
            let mut body = Vec::new();
            prost::encoding::int32::encode(1, &code, &mut body);
            string::encode(2, &why.to_owned(), &mut body);
            answer::of_bytes(status, "application/x-protobuf", body)
        }
    };
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
