//! Anchors as a real-valued matrix, and the projection onto their span.

use faer::Mat;
use ndarray::{Array2, ArrayView2, Axis};

use crate::data::check_finite;
use crate::{Error, Result};

/// Real-valued anchors `A`, n × q, of any rank.
///
/// Use a [`Partition`](crate::Partition) for one-hot groups: same result without a matrix.
///
/// ```
/// use ndarray::array;
/// use windlass::AnchorMatrix;
///
/// let twice_the_same = AnchorMatrix::new(array![[1.0, 2.0], [0.5, 1.0], [3.0, 6.0]])?;
/// assert_eq!(twice_the_same.basis().rank(), 1);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AnchorMatrix {
    anchors: Array2<f64>,
}

impl AnchorMatrix {
    /// Anchors with at least one row and one column, all finite.
    pub fn new(anchors: Array2<f64>) -> Result<Self> {
        for (axis, missing) in [(Axis(0), "rows"), (Axis(1), "columns")] {
            if anchors.len_of(axis) == 0 {
                return Err(Error::Empty { what: "the anchor matrix", missing });
            }
        }
        let anchors = anchors.as_standard_layout().into_owned();
        check_finite("the anchor matrix", anchors.view())?;
        Ok(Self { anchors })
    }

    /// The anchors of some of the rows.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        if let Some(&row) = rows.iter().find(|&&row| row >= self.rows()) {
            return Err(Error::NoSuchRow { row, rows: self.rows() });
        }
        Self::new(self.anchors.select(Axis(0), rows))
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.anchors.nrows()
    }

    /// The anchors.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.anchors.view()
    }

    /// An orthonormal basis of the span of the columns, by a QR factorization with column pivoting.
    #[must_use]
    pub fn basis(&self) -> Basis {
        let (n, q) = self.anchors.dim();
        let factors = Mat::from_fn(n, q, |i, j| self.anchors[(i, j)]).col_piv_qr();
        let r = factors.thin_R();
        let diagonal = |k: usize| r[(k, k)].abs();
        let size = n.min(q);
        let tolerance = diagonal(0) * f64::EPSILON * n.max(q) as f64;
        let rank = (0..size).take_while(|&k| diagonal(k) > tolerance).count();
        let thin = factors.compute_thin_Q();
        Basis { q: Array2::from_shape_fn((n, rank), |(i, k)| thin[(i, k)]) }
    }
}

/// An orthonormal basis `Q` of the span of some anchors: `Π = A(AᵀA)†Aᵀ = QQᵀ`.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    q: Array2<f64>,
}

impl Basis {
    /// The dimension of the span.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.q.ncols()
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.q.nrows()
    }

    /// The basis vectors as columns, n × rank.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.q.view()
    }
}
