//! Pictures with a palette: a third of the size of the browser's, and no visible difference.

use std::collections::HashMap;
use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter};

/// The number of colours in a palette.
const MOST: usize = 256;

/// Red, green and blue.
type Colour = [u8; 3];

/// The picture reduced to its 256 most frequent colours. Every other colour, found only at the
/// edges of letters, becomes the nearest of these.
pub(crate) fn with_few_colours(picture: &[u8]) -> Vec<u8> {
    let decoder = Decoder::new(Cursor::new(picture));
    let mut reader = decoder.read_info().expect("a picture");
    let size = reader.output_buffer_size().expect("a picture that fits");
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).expect("a picture");
    let channels = frame.color_type.samples();
    let pixels: Vec<Colour> = bytes
        .chunks_exact(channels)
        .filter_map(|pixel| pixel.first_chunk().copied())
        .collect();
    let palette = most_frequent(&pixels);
    let mut known = HashMap::new();
    let places: Vec<u8> = pixels
        .iter()
        .map(|pixel| {
            *known
                .entry(*pixel)
                .or_insert_with(|| nearest(*pixel, &palette))
        })
        .collect();

    let mut small = Vec::new();
    let mut encoder = Encoder::new(&mut small, frame.width, frame.height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(Compression::High);
    encoder.set_filter(Filter::NoFilter);
    let mut writer = encoder.write_header().expect("a picture");
    writer.write_image_data(&places).expect("a picture");
    drop(writer);
    small
}

fn most_frequent(pixels: &[Colour]) -> Vec<Colour> {
    let mut counts: HashMap<Colour, usize> = HashMap::new();
    for pixel in pixels {
        *counts.entry(*pixel).or_default() += 1;
    }
    let mut colours: Vec<_> = counts.into_iter().collect();
    // ties are sorted by colour, so that a picture always gets the same bytes
    colours.sort_by_key(|(colour, count)| (usize::MAX - count, *colour));
    colours.truncate(MOST);
    colours.into_iter().map(|(colour, _)| colour).collect()
}

/// The index of the most similar colour in the palette.
fn nearest(colour: Colour, palette: &[Colour]) -> u8 {
    let distance = |other: &Colour| -> u32 {
        let parts = colour.iter().zip(other);
        parts
            .map(|(one, two)| u32::from(one.abs_diff(*two)).pow(2))
            .sum()
    };
    let places = (0..=u8::MAX).zip(palette);
    let nearest = places.min_by_key(|(_, other)| distance(other));
    nearest.map_or(0, |(place, _)| place)
}
