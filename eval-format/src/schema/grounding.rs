//! Metadata of a model's answer: google.genai's grounding and usage.

use super::content::models;
use super::table::Type::{Bytes, Enum, Int, List, Models, PythonFloat, String};
use super::table::{Model, Type, optional};

models! {
    pub(crate) USAGE_METADATA "a usage metadata object" {
        cache_tokens_details: TOKENS,
        cached_content_token_count: Int,
        candidates_token_count: Int,
        candidates_tokens_details: TOKENS,
        prompt_token_count: Int,
        prompt_tokens_details: TOKENS,
        thoughts_token_count: Int,
        tool_use_prompt_token_count: Int,
        tool_use_prompt_tokens_details: TOKENS,
        total_token_count: Int,
        traffic_type: Enum(&[
            "TRAFFIC_TYPE_UNSPECIFIED",
            "ON_DEMAND",
            "ON_DEMAND_PRIORITY",
            "ON_DEMAND_FLEX",
            "ON_DEMAND_OFFPEAK",
            "PROVISIONED_THROUGHPUT",
        ]),
    }
}

const TOKENS: Type = Models(&MODALITY_TOKEN_COUNT);

models! {
    MODALITY_TOKEN_COUNT "a token count" {
        modality: Enum(&["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT"]),
        token_count: Int,
    }

    pub(super) GROUNDING_METADATA "a grounding metadata object" {
        image_search_queries: List(&String),
        grounding_chunks: Models(&CHUNK),
        grounding_supports: Models(&SUPPORT),
        retrieval_metadata: Type::Model(&RETRIEVAL_METADATA),
        search_entry_point: Type::Model(&SEARCH_ENTRY_POINT),
        web_search_queries: List(&String),
        google_maps_widget_context_token: String,
        retrieval_queries: List(&String),
        source_flagging_uris: Models(&SOURCE_FLAGGING_URI),
    }

    CHUNK "a grounding chunk" {
        image: Type::Model(&IMAGE),
        maps: Type::Model(&MAPS),
        retrieved_context: Type::Model(&RETRIEVED_CONTEXT),
        web: Type::Model(&WEB),
    }

    IMAGE "an image source" { source_uri: String, image_uri: String, title: String, domain: String }

    MAPS "a maps source" {
        place_answer_sources: Type::Model(&PLACE_ANSWER_SOURCES),
        place_id: String,
        text: String,
        title: String,
        uri: String,
        route: Type::Model(&ROUTE),
    }

    PLACE_ANSWER_SOURCES "a place answer source" {
        review_snippet: Models(&REVIEW_SNIPPET),
        flag_content_uri: String,
        review_snippets: Models(&REVIEW_SNIPPET),
    }

    REVIEW_SNIPPET "a review snippet" {
        author_attribution: Type::Model(&AUTHOR_ATTRIBUTION),
        flag_content_uri: String,
        google_maps_uri: String,
        relative_publish_time_description: String,
        review: String,
        review_id: String,
        title: String,
    }

    AUTHOR_ATTRIBUTION "an author attribution" { display_name: String, photo_uri: String, uri: String }

    ROUTE "a route" { distance_meters: Int, duration: String, encoded_polyline: String }

    RETRIEVED_CONTEXT "a retrieved context" {
        document_name: String,
        rag_chunk: Type::Model(&RAG_CHUNK),
        text: String,
        title: String,
        uri: String,
        custom_metadata: Models(&CUSTOM_METADATA),
        file_search_store: String,
        page_number: Int,
        media_id: String,
    }

    RAG_CHUNK "a retrieved chunk" {
        page_span: Type::Model(&PAGE_SPAN),
        text: String,
        chunk_id: String,
        file_id: String,
    }

    PAGE_SPAN "a page span" { first_page: Int, last_page: Int }

    CUSTOM_METADATA "a metadata entry" {
        key: String,
        numeric_value: PythonFloat,
        string_list_value: Type::Model(&STRING_LIST),
        string_value: String,
    }

    STRING_LIST "a list of strings" { values: List(&String) }

    WEB "a web source" { domain: String, title: String, uri: String }

    SUPPORT "a grounding support" {
        confidence_scores: List(&PythonFloat),
        grounding_chunk_indices: List(&Int),
        segment: Type::Model(&SEGMENT),
        rendered_parts: List(&Int),
    }

    SEGMENT "a segment" { start_index: Int, end_index: Int, part_index: Int, text: String }

    RETRIEVAL_METADATA "a retrieval metadata object" { google_search_dynamic_retrieval_score: PythonFloat }

    SEARCH_ENTRY_POINT "a search entry point" { rendered_content: String, sdk_blob: Bytes }

    SOURCE_FLAGGING_URI "a flagged source" { flag_content_uri: String, source_id: String }
}
