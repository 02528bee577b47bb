//! Answers to exports, in the encoding of the request.

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use prost::encoding::{int64, string};
use serde::Serialize;

use super::export::{Encoding, Rejected, Signal};
use crate::answer;

/// `ExportTraceServiceResponse`, and `ExportLogsServiceResponse`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Stored<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_success: Option<PartialSuccess<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialSuccess<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_spans: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_log_records: Option<String>,
    error_message: &'a str,
}

/// `google.rpc.Status`.
#[derive(Debug, Serialize)]
struct Status<'a> {
    code: i32,
    message: &'a str,
}

/// The answer to an export that was stored, without the `rejected` entries.
pub(crate) fn stored(signal: Signal, encoding: Encoding, rejected: Option<&Rejected>) -> Response {
    match encoding {
        Encoding::Json => {
            let partial_success = rejected.map(|rejected| {
                let count = |of: Signal| (signal == of).then(|| rejected.count.to_string());
                PartialSuccess {
                    rejected_spans: count(Signal::Traces),
                    rejected_log_records: count(Signal::Logs),
                    error_message: &rejected.why,
                }
            });
            answer::json(StatusCode::OK, &Stored { partial_success })
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

/// The answer to an export that was refused. If it can be retried, `Retry-After` gives the time.
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
        Encoding::Json => answer::json(status, &Status { code, message: why }),
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
