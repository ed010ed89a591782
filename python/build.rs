//! Lets the linker leave symbols of Python undefined, on systems that need a flag for it.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
