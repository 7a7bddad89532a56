//! A plan as the user says it, field by field, and the request that comes of it.

mod arrival_mode;
mod draft;
mod fields;
pub mod respell;
pub mod slips;

pub use arrival_mode::ArrivalMode;
pub use draft::{Draft, DraftSetup, PROFILE_STARTS, PlanError};
pub use fields::PlanField;
pub use slips::Fix;
