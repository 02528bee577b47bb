//! Files of other schemas.

use crate::problem::Problem;
use crate::syntax::Node;

pub(super) fn recognise(_root: &Node<'_>) -> Option<Problem> {
    None
}
