//! A plan as the user says it, field by field, and the request that comes of it.

mod arrival_mode;
mod draft;
pub mod fields;
mod options;
pub mod respell;
pub mod slips;

pub use arrival_mode::ArrivalMode;
pub use draft::{Draft, DraftSetup, PROFILE_STARTS, PlanError};
pub use fields::PlanField;
pub use options::{GivenOptions, check_option};
pub use slips::Fix;
