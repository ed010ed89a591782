//! Every method of augmentation on the same rows: `cargo run -p windlass --example methods`.
#![expect(clippy::print_stdout, reason = "an example")]

use ndarray::Array2;
use windlass::{Copies, METHODS, MethodParams, Plan, Result, Samples, Seed};

fn main() -> Result<()> {
    let x = Array2::from_shape_fn((40, 2), |(i, j)| ((i * (j + 3)) % 11) as f64 + i as f64 / 10.0);
    let y = x.column(0).mapv(f64::sin) + x.column(1);
    let samples = Samples::new(x.view(), y.view())?;
    // Local-Mixup has no default for the largest distance between partners.
    for method in METHODS {
        let fitted = (method.build)(&MethodParams::default()).fit(&samples, Seed(7))?;
        let plan = Plan::draw(fitted.as_ref(), Copies::new(3), Seed(7))?;
        let (more_x, more_y) = (plan.features(x.view())?, plan.targets(y.view())?);
        // Local-Mixup omits rows without a neighbor; all others make three copies of every row.
        assert!((41..=160).contains(&more_x.nrows()) && more_y.len() == plan.rows());
        // Rows 0 to 39 are the originals; row 40 is the first synthetic row.
        let how = plan.origin(40).map(|origin| origin.how);
        println!("{:<11} x = {:.3}, y = {:.3}: {how:?}", method.name, more_x.row(40), more_y[40]);
    }
    Ok(())
}
