//! Playing one run of a case: the messages of the user, and the turns of the agent.

mod by_hand;
mod conversation;
mod unscored;
mod user;

pub use by_hand::Conversation;
pub(crate) use conversation::{Conditions, check_given, converse, late, renew_rubrics, turns_of};
pub use unscored::check as check_events;
pub(crate) use user::User;
