//! Molecules and proteins as numbers: a letter is its place in an alphabet, as in the Therapeutics Data Commons
//! (Huang et al., 2021), whose encoder sorts the letters.
//!
//! ```
//! use windlass_paper::networks::sequences;
//!
//! let aspirin = sequences::drug("CC(=O)OC1=CC=CC=C1C(=O)O");
//! assert_eq!(aspirin.len(), 100);
//! assert_eq!(sequences::DRUG[aspirin[0] as usize], b'C');
//! // Unknown letters, and the places after the last, are `?`.
//! assert_eq!(sequences::DRUG[aspirin[99] as usize], b'?');
//! assert_eq!(sequences::protein("mvj")[..2], sequences::protein("MV")[..2]);
//! ```

/// The letters of molecules (SMILES), in the order of their codes.
pub const DRUG: &[u8; 63] = b"#%()+-.0123456789=?ABCDEFGHIKLMNOPRSTUVWYZ[]_abcdefghilmnorstuy";
/// The letters of proteins, in the order of their codes.
pub const PROTEIN: &[u8; 26] = b"?ABCDEFGHIKLMNOPQRSTUVWXYZ";
/// Maximum number of letters of a molecule.
pub const DRUG_LENGTH: usize = 100;
/// Maximum number of letters of a protein.
pub const PROTEIN_LENGTH: usize = 1000;

/// The codes of a molecule.
#[must_use]
pub fn drug(smiles: &str) -> Vec<f32> {
    codes(smiles.chars(), DRUG, DRUG_LENGTH)
}

/// The codes of a protein; lowercase letters count as uppercase.
#[must_use]
pub fn protein(sequence: &str) -> Vec<f32> {
    codes(sequence.chars().flat_map(char::to_uppercase), PROTEIN, PROTEIN_LENGTH)
}

fn codes(letters: impl Iterator<Item = char>, alphabet: &[u8], length: usize) -> Vec<f32> {
    let code = |letter: char| alphabet.iter().position(|&known| char::from(known) == letter);
    let unknown = code('?').expect("a letter for what is unknown");
    let known = letters.map(|letter| code(letter).unwrap_or(unknown));
    known.chain(std::iter::repeat(unknown)).take(length).map(|code| code as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The alphabets as TDC lists them, before its encoder sorts them.
    #[test]
    fn letters_are_those_of_tdc_in_order() {
        let mut drug = *b"?#%)(+-.1032547698=ACBEDGFIHKMLONPSRUTWVY[Z]_acbedgfihmlonsruty";
        drug.sort_unstable();
        assert_eq!(&drug, DRUG);
        let mut protein = *b"?ACBEDGFIHKMLONQPSRUTWVYXZ";
        protein.sort_unstable();
        assert_eq!(&protein, PROTEIN);
    }

    #[test]
    fn long_sequences_are_cut() {
        assert_eq!(drug(&"C".repeat(250)).len(), 100);
        assert_eq!(protein(&"K".repeat(2500)).len(), 1000);
        let unknown =
            |alphabet: &[u8]| alphabet.iter().position(|&letter| letter == b'?').unwrap() as f32;
        assert_eq!(drug("ß")[0], unknown(DRUG));
        assert_eq!(protein("J")[0], unknown(PROTEIN));
    }
}
