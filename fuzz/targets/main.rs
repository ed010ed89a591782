//! All fuzz targets; the variable `WINDLASS_FUZZ` names the one to run.
#![no_main]

mod common;
mod model_file;
mod storage;

use std::sync::OnceLock;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    TARGET.get_or_init(|| match std::env::var("WINDLASS_FUZZ").as_deref() {
        Ok("csv") => |bytes| common::read_anything(bytes, "csv"),
        Ok("parquet") => |bytes| common::read_anything(bytes, "parquet"),
        Ok("arrow") => |bytes| common::read_anything(bytes, "arrow"),
        Ok("arrows") => |bytes| common::read_anything(bytes, "arrows"),
        Ok("fitted") => common::read_fitted,
        Ok("manifest") => common::read_manifest,
        Ok("model") => model_file::read_model,
        Ok("storage") => storage::same_bytes,
        other => panic!("no fuzz target {other:?}"),
    })(bytes);
});
