//! How each provider is asked.

use super::wire::{Wire, anthropic, gemini, open_ai};
use crate::judge::Provider;

pub(super) fn wire(provider: Provider) -> &'static dyn Wire {
    match provider {
        Provider::OpenAi => &open_ai::OPEN_AI,
        Provider::Anthropic => &anthropic::Anthropic,
        Provider::Gemini => &gemini::Gemini,
        Provider::Ollama => &open_ai::COMPATIBLE,
    }
}
