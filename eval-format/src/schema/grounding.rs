//! What a model reports beside its answer: google.genai's grounding and usage metadata.

use super::content::genai;
use super::table::Type::{Bytes, Enum, Int, List, Models, PythonFloat, String};
use super::table::{Model, Type, optional};

pub(crate) static USAGE_METADATA: Model = genai(
    "a usage metadata object",
    &[
        optional("cache_tokens_details", TOKENS),
        optional("cached_content_token_count", Int),
        optional("candidates_token_count", Int),
        optional("candidates_tokens_details", TOKENS),
        optional("prompt_token_count", Int),
        optional("prompt_tokens_details", TOKENS),
        optional("thoughts_token_count", Int),
        optional("tool_use_prompt_token_count", Int),
        optional("tool_use_prompt_tokens_details", TOKENS),
        optional("total_token_count", Int),
        optional(
            "traffic_type",
            Enum(&[
                "TRAFFIC_TYPE_UNSPECIFIED",
                "ON_DEMAND",
                "ON_DEMAND_PRIORITY",
                "ON_DEMAND_FLEX",
                "ON_DEMAND_OFFPEAK",
                "PROVISIONED_THROUGHPUT",
            ]),
        ),
    ],
);

const TOKENS: Type = Models(&MODALITY_TOKEN_COUNT);

static MODALITY_TOKEN_COUNT: Model = genai(
    "a token count",
    &[
        optional("modality", Enum(&["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT"])),
        optional("token_count", Int),
    ],
);

pub(super) static GROUNDING_METADATA: Model = genai(
    "a grounding metadata object",
    &[
        optional("image_search_queries", List(&String)),
        optional("grounding_chunks", Models(&CHUNK)),
        optional("grounding_supports", Models(&SUPPORT)),
        optional("retrieval_metadata", Type::Model(&RETRIEVAL_METADATA)),
        optional("search_entry_point", Type::Model(&SEARCH_ENTRY_POINT)),
        optional("web_search_queries", List(&String)),
        optional("google_maps_widget_context_token", String),
        optional("retrieval_queries", List(&String)),
        optional("source_flagging_uris", Models(&SOURCE_FLAGGING_URI)),
    ],
);

static CHUNK: Model = genai(
    "a grounding chunk",
    &[
        optional("image", Type::Model(&IMAGE)),
        optional("maps", Type::Model(&MAPS)),
        optional("retrieved_context", Type::Model(&RETRIEVED_CONTEXT)),
        optional("web", Type::Model(&WEB)),
    ],
);

static IMAGE: Model = genai(
    "an image source",
    &[
        optional("source_uri", String),
        optional("image_uri", String),
        optional("title", String),
        optional("domain", String),
    ],
);

static MAPS: Model = genai(
    "a maps source",
    &[
        optional("place_answer_sources", Type::Model(&PLACE_ANSWER_SOURCES)),
        optional("place_id", String),
        optional("text", String),
        optional("title", String),
        optional("uri", String),
        optional("route", Type::Model(&ROUTE)),
    ],
);

static PLACE_ANSWER_SOURCES: Model = genai(
    "a place answer source",
    &[
        optional("review_snippet", Models(&REVIEW_SNIPPET)),
        optional("flag_content_uri", String),
        optional("review_snippets", Models(&REVIEW_SNIPPET)),
    ],
);

static REVIEW_SNIPPET: Model = genai(
    "a review snippet",
    &[
        optional("author_attribution", Type::Model(&AUTHOR_ATTRIBUTION)),
        optional("flag_content_uri", String),
        optional("google_maps_uri", String),
        optional("relative_publish_time_description", String),
        optional("review", String),
        optional("review_id", String),
        optional("title", String),
    ],
);

static AUTHOR_ATTRIBUTION: Model = genai(
    "an author attribution",
    &[optional("display_name", String), optional("photo_uri", String), optional("uri", String)],
);

static ROUTE: Model = genai(
    "a route",
    &[optional("distance_meters", Int), optional("duration", String), optional("encoded_polyline", String)],
);

static RETRIEVED_CONTEXT: Model = genai(
    "a retrieved context",
    &[
        optional("document_name", String),
        optional("rag_chunk", Type::Model(&RAG_CHUNK)),
        optional("text", String),
        optional("title", String),
        optional("uri", String),
        optional("custom_metadata", Models(&CUSTOM_METADATA)),
        optional("file_search_store", String),
        optional("page_number", Int),
        optional("media_id", String),
    ],
);

static RAG_CHUNK: Model = genai(
    "a retrieved chunk",
    &[
        optional("page_span", Type::Model(&PAGE_SPAN)),
        optional("text", String),
        optional("chunk_id", String),
        optional("file_id", String),
    ],
);

static PAGE_SPAN: Model = genai("a page span", &[optional("first_page", Int), optional("last_page", Int)]);

static CUSTOM_METADATA: Model = genai(
    "a metadata entry",
    &[
        optional("key", String),
        optional("numeric_value", PythonFloat),
        optional("string_list_value", Type::Model(&STRING_LIST)),
        optional("string_value", String),
    ],
);

static STRING_LIST: Model = genai("a list of strings", &[optional("values", List(&String))]);

static WEB: Model =
    genai("a web source", &[optional("domain", String), optional("title", String), optional("uri", String)]);

static SUPPORT: Model = genai(
    "a grounding support",
    &[
        optional("confidence_scores", List(&PythonFloat)),
        optional("grounding_chunk_indices", List(&Int)),
        optional("segment", Type::Model(&SEGMENT)),
        optional("rendered_parts", List(&Int)),
    ],
);

static SEGMENT: Model = genai(
    "a segment",
    &[
        optional("start_index", Int),
        optional("end_index", Int),
        optional("part_index", Int),
        optional("text", String),
    ],
);

static RETRIEVAL_METADATA: Model =
    genai("a retrieval metadata object", &[optional("google_search_dynamic_retrieval_score", PythonFloat)]);

static SEARCH_ENTRY_POINT: Model =
    genai("a search entry point", &[optional("rendered_content", String), optional("sdk_blob", Bytes)]);

static SOURCE_FLAGGING_URI: Model =
    genai("a flagged source", &[optional("flag_content_uri", String), optional("source_id", String)]);
