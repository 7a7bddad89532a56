//! Says whether the viewer was built: then the program has it in, and can write a result as a page.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=assets/viewer");
    println!("cargo::rustc-check-cfg=cfg(has_viewer)");
    let is_there = |name: &str| Path::new("assets/viewer").join(name).is_file();
    if is_there("viewer.wasm.gz") && is_there("viewer.js.gz") {
        println!("cargo::rustc-cfg=has_viewer");
    }
}
