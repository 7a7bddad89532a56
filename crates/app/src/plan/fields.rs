//! What the controls of a plan are called that are no field of it.

use powerband_planning::engine_options::Key;

/// The control of a setup's engine, by the setup's place.
pub fn of_engine(place: usize) -> String {
    format!("Engine of setup {}", place + 1)
}

/// The control of a setup's device, by the setup's place.
pub fn of_device(place: usize) -> String {
    format!("Device of setup {}", place + 1)
}

/// The control of a key of a setup, by the setup's place.
pub fn of_key(place: usize, key: &Key) -> String {
    format!("{} of setup {}", key.title(), place + 1)
}

/// The field of a row of the matrix, by its title.
pub fn of_matrix(title: &str) -> String {
    format!("Values of {title}")
}
