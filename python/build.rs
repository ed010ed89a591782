//! Lets the linker leave Python's own functions to the interpreter, where it must be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
