//! What PyTorch computes for the same weights: outputs, losses, gradients on every layer, steps of Adam.
//!
//! `networks_golden/make.py` made the files.

use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayView2};
use safetensors::SafeTensors;
use windlass::{Mixing, Partition, Seed, Strength};
use windlass_paper::networks::{
    DeepArchitecture, DeepDta, DeepNetwork, Device, Lstnet, NetworkSpec, ResNet18, Tower,
};
use windlass_train::{Architecture, BatchInput, HiddenMix, Learner, Loss, Step};

/// How far numbers may be from PyTorch's, in units of the largest of a tensor. Batch normalization of a few
/// values divides by small deviations, so PyTorch's own 32 bits are as far from 64 as this.
#[derive(Clone, Copy)]
struct Near {
    outputs: f64,
    gradients: f64,
    weights: f64,
}

struct Golden {
    bytes: Vec<u8>,
    near: Near,
}

fn place(name: &str) -> PathBuf {
    // Tests run in the folder of their package. A path compiled in would go stale when one target folder serves
    // several clones.
    Path::new("tests/networks_golden").join(name)
}

impl Golden {
    fn open(name: &str, near: Near) -> Self {
        Self { bytes: std::fs::read(place(name)).unwrap(), near }
    }

    fn file(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).unwrap()
    }

    fn numbers(&self, name: &str) -> Vec<f32> {
        let file = self.file();
        let tensor = file.tensor(name).unwrap_or_else(|_| panic!("no tensor {name}"));
        let chunks = tensor.data().as_chunks::<4>().0;
        chunks.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }

    fn matrix(&self, name: &str) -> Array2<f32> {
        let shape = self.file().tensor(name).unwrap().shape().to_vec();
        Array2::from_shape_vec((shape[0], shape[1]), self.numbers(name)).unwrap()
    }

    fn labels(&self) -> Vec<u32> {
        let file = self.file();
        let tensor = file.tensor("labels").unwrap();
        let chunks = tensor.data().as_chunks::<8>().0;
        chunks.iter().map(|&bytes| u32::try_from(i64::from_le_bytes(bytes)).unwrap()).collect()
    }

    /// A network with the weights of the file.
    fn network(&self, deep: &DeepArchitecture) -> DeepNetwork {
        let mut network = deep.network(Seed(0)).unwrap();
        let names: Vec<String> = network.tensors().map(|(name, ..)| name.to_owned()).collect();
        let all = self.file();
        let there = all.names().into_iter().filter(|name| name.starts_with("weights."));
        assert_eq!(there.count(), names.len(), "tensors of the network");
        for name in names {
            let given = self.numbers(&format!("weights.{name}"));
            network.tensor_mut(&name).unwrap().copy_from_slice(&given);
        }
        network
    }

    fn check(&self, name: &str, got: &[f32], near: f64) {
        let want = self.numbers(name);
        assert_eq!(got.len(), want.len(), "{name}");
        let largest = want.iter().fold(0.0_f64, |most, &value| most.max(f64::from(value.abs())));
        for (place, (&got, &want)) in got.iter().zip(&want).enumerate() {
            let off = f64::from(got - want).abs() / largest;
            assert!(off <= near, "{name}[{place}]: {got} against {want}, off by {off:.1e}");
        }
    }

    /// The gradient of a step, tensor by tensor.
    fn check_gradient(&self, case: &str, network: &DeepNetwork, gradient: &[f32]) {
        let mut start = 0;
        for (name, _, values) in network.tensors() {
            if name.contains("running_") {
                continue;
            }
            let part = &gradient[start..start + values.len()];
            self.check(&format!("{case}.grad.{name}"), part, self.near.gradients);
            start += values.len();
        }
        assert_eq!(start, gradient.len());
    }
}

type Workspace = <DeepNetwork as Learner>::Workspace;

fn pass(
    network: &mut DeepNetwork,
    x: ArrayView2<'_, f32>,
    y: ArrayView2<'_, f32>,
    hidden_mix: Option<HiddenMix<'_>>,
    weight: &dyn Fn(usize) -> f64,
) -> (f64, Vec<f32>) {
    let mut workspace = Workspace::default();
    let step = Step {
        x: BatchInput::All(x),
        hidden_mix,
        y,
        loss: Loss::Squared,
        weight,
        seed: Seed(0),
        number: 0,
    };
    let loss = network.backprop(&step, &mut workspace).unwrap().unwrap();
    (loss, DeepNetwork::gradient(&mut workspace).to_vec())
}

fn compare(golden: &Golden, description: NetworkSpec) {
    let layers = description.layers();
    let deep = DeepArchitecture::new(description, Device::Cpu).unwrap();
    let (x, y) = (golden.matrix("x"), golden.matrix("y"));
    let start = golden.network(&deep);
    let predicted = start.predict(x.view()).unwrap();
    golden.check("eval.out", predicted.as_slice().unwrap(), golden.near.outputs);

    let mut network = start.clone();
    let check_loss = |case: &str, loss: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        golden.check(&format!("{case}.loss"), &[loss as f32], golden.near.outputs);
    };
    let (loss, gradient) = pass(&mut network, x.view(), y.view(), None, &|_| 1.0);
    check_loss("erm", loss);
    golden.check_gradient("erm", &network, &gradient);
    for (name, _, values) in network.tensors().filter(|(name, ..)| name.contains("running_")) {
        golden.check(&format!("erm.buffer.{name}"), values, 1e-5);
    }

    let weights = golden.numbers("weighted.weights");
    let (loss, gradient) =
        pass(&mut start.clone(), x.view(), y.view(), None, &|row| weights[row].into());
    check_loss("weighted", loss);
    golden.check_gradient("weighted", &start, &gradient);

    let half = x.nrows() / 2;
    let lambda = golden.numbers("lambda").into_iter().map(f64::from).collect();
    let pairs = Mixing::pairs(half, Strength::PerRow(lambda)).unwrap();
    let partition = Partition::new(golden.labels(), 3).unwrap();
    let gamma = Strength::Shared(golden.numbers("gamma")[0].into());
    let groups = Mixing::group_mean(partition, gamma).unwrap();
    for layer in 0..=layers {
        for (name, mixing) in [("pairs", &pairs), ("groups", &groups)] {
            let case = format!("{name}.{layer}");
            let targets = mixing.apply(y.view()).unwrap();
            let inside = HiddenMix { layer, mixing, displacements: None, originals: false };
            let mut network = start.clone();
            let (loss, gradient) =
                pass(&mut network, x.view(), targets.view(), Some(inside), &|_| 1.0);
            check_loss(&case, loss);
            golden.check_gradient(&case, &network, &gradient);
        }
    }
    steps_of_adam(golden, start, &x, &y);
}

/// Adam as PyTorch's documentation has it, so that five steps follow from the gradients alone.
fn steps_of_adam(golden: &Golden, mut network: DeepNetwork, x: &Array2<f32>, y: &Array2<f32>) {
    let learnt = network.trainable();
    let (mut first, mut second) = (vec![0.0_f64; learnt], vec![0.0_f64; learnt]);
    for step in 0..5 {
        let (loss, gradient) = pass(&mut network, x.view(), y.view(), None, &|_| 1.0);
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        golden.check(&format!("adam.{step}.loss"), &[loss as f32], golden.near.outputs);
        let since = |beta: f64| 1.0 - beta.powi(step + 1);
        for (place, &g) in gradient.iter().enumerate() {
            let g = f64::from(g);
            first[place] = 0.9 * first[place] + 0.1 * g;
            second[place] = 0.999 * second[place] + 0.001 * g * g;
            let size = (second[place] / since(0.999)).sqrt() + 1e-8;
            #[expect(clippy::cast_possible_truncation, reason = "rounded")]
            let down = (0.01 * first[place] / since(0.9) / size) as f32;
            network.parameters_mut()[place] -= down;
        }
    }
    for (name, _, values) in network.tensors() {
        golden.check(&format!("adam.weights.{name}"), values, golden.near.weights);
    }
}

#[test]
fn lstnet_is_pytorchs() {
    let near = Near { outputs: 1e-5, gradients: 2e-5, weights: 2e-5 };
    let net = Lstnet {
        window: 20,
        series: 3,
        channels: 5,
        kernel: 3,
        hidden: 4,
        skip_hidden: 2,
        skip: 4,
        highway: 6,
        dropout: 0.0,
    };
    compare(&Golden::open("lstnet.safetensors", near), NetworkSpec::Lstnet(net));
}

#[test]
fn resnet18_is_pytorchs() {
    let near = Near { outputs: 1e-4, gradients: 1e-3, weights: 1e-4 };
    compare(&Golden::open("resnet18.safetensors", near), NetworkSpec::Resnet18(small_resnet()));
}

#[test]
fn deepdta_is_pytorchs() {
    let near = Near { outputs: 1e-5, gradients: 2e-5, weights: 2e-5 };
    let tower =
        |alphabet, length, kernels| Tower { alphabet, length, channels: [3, 4, 5], kernels };
    let net = DeepDta {
        drug: tower(7, 20, [2, 3, 4]),
        protein: tower(5, 30, [2, 3, 5]),
        units: 6,
        predictor: [6, 4, 3],
    };
    compare(&Golden::open("deepdta.safetensors", near), NetworkSpec::Deepdta(net));
}

fn small_resnet() -> ResNet18 {
    ResNet18 { side: 16, widths: [4, 6, 8, 10], weights: None }
}

fn with_weights(path: PathBuf) -> Result<DeepNetwork, windlass_train::Error> {
    let net = ResNet18 { weights: Some(path), ..small_resnet() };
    DeepArchitecture::new(NetworkSpec::Resnet18(net), Device::Cpu)?.network(Seed(3))
}

/// Everything comes from the file but the last layer, which is of other targets.
#[test]
fn weights_come_from_files() {
    let near = Near { outputs: 0.0, gradients: 0.0, weights: 0.0 };
    let golden = Golden::open("resnet18.safetensors", near);
    let drawn = DeepArchitecture::new(NetworkSpec::Resnet18(small_resnet()), Device::Cpu).unwrap();
    let drawn = drawn.network(Seed(3)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("weights.safetensors");
    let file = golden.file();
    let named: Vec<_> = file
        .iter()
        .filter_map(|(name, tensor)| Some((name.strip_prefix("weights.")?.to_owned(), tensor)))
        .collect();
    std::fs::write(&other, safetensors::serialize(named.clone(), None).unwrap()).unwrap();
    for path in [other, place("resnet18.pth")] {
        let network = with_weights(path).unwrap();
        for ((name, _, values), (_, _, fresh)) in network.tensors().zip(drawn.tensors()) {
            if name.starts_with("fc.") {
                assert_eq!(values, fresh, "{name}");
            } else {
                assert_eq!(values, golden.numbers(&format!("weights.{name}")), "{name}");
            }
        }
    }

    let missing = folder.path().join("missing.safetensors");
    let but_one = named.iter().filter(|(name, _)| name != "bn1.running_var").cloned();
    std::fs::write(&missing, safetensors::serialize(but_one, None).unwrap()).unwrap();
    let message = with_weights(missing).unwrap_err().to_string();
    assert!(message.ends_with("missing.safetensors: there is no tensor `bn1.running_var`"));
    let absent = with_weights(folder.path().join("absent.pth")).unwrap_err().to_string();
    assert!(absent.contains("absent.pth: "), "{absent}");
    let text = folder.path().join("text.pth");
    std::fs::write(&text, "no weights").unwrap();
    assert!(with_weights(text).is_err());

    let net = ResNet18 { weights: Some(place("resnet18.pth")), widths: [4, 6, 8, 12], side: 16 };
    let deep = DeepArchitecture::new(NetworkSpec::Resnet18(net), Device::Cpu).unwrap();
    let message = deep.network(Seed(0)).unwrap_err().to_string();
    assert!(
        message.ends_with("`layer4.0.conv1.weight` is of shape [10, 8, 3, 3], not [12, 8, 3, 3]"),
        "{message}"
    );
}
