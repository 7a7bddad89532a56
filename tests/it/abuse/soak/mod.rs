//! A window in which many runs were measured holds no more descriptors, threads and processes than after the first.

#[expect(
    dead_code,
    reason = "memory is for the bench alone, with thousands of cases"
)]
pub(crate) mod window;

use crate::models::good_model;
use crate::support::{Home, alone};

#[test]
fn runs_leave_no_descriptor_thread_or_process_behind() {
    let home = Home::new();
    let test = "abuse::soak::runs_leave_no_descriptor_thread_or_process_behind";
    if !alone(&home, test) {
        return;
    }
    let model = home.write("good.onnx", good_model());
    let all = window::soak((&home.path("window"), &model), 160, |_| ());
    assert_eq!(window::leaks(&all), Vec::<String>::new(), "{all:#?}");
}
