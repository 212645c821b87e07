// Column encodings of the timeline: LEB128 varints, zigzag, deltas, raw bytes and floats.

export type Coding = "u" | "s" | "udelta" | "sdelta" | "u8" | "f32";

const TWO_TO_28 = 2 ** 28;

/**
 * Decodes varints into an array with one element per row. Most take one to four bytes, which fit integers; longer ones
 * are summed as doubles, exact up to 2^53: 104 days in ns.
 */
export function decodeColumn<Out extends Float64Array | Uint32Array>(
  bytes: Uint8Array,
  coding: Coding,
  out: Out,
): Out {
  const signed = coding === "s" || coding === "sdelta";
  const delta = coding === "udelta" || coding === "sdelta";
  const rows = out.length;
  let at = 0;
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    let byte = bytes[at++]!;
    let value = byte & 0x7f;
    if (byte > 0x7f) {
      byte = bytes[at++]!;
      value |= (byte & 0x7f) << 7;
      if (byte > 0x7f) {
        byte = bytes[at++]!;
        value |= (byte & 0x7f) << 14;
        if (byte > 0x7f) {
          byte = bytes[at++]!;
          value |= (byte & 0x7f) << 21;
          if (byte > 0x7f) {
            let factor = TWO_TO_28;
            do {
              byte = bytes[at++]!;
              value += (byte & 0x7f) * factor;
              factor *= 128;
            } while (byte > 0x7f);
            if (signed) value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
            sum = delta ? sum + value : value;
            out[row] = sum;
            continue;
          }
        }
      }
    }
    if (signed) value = (value >>> 1) ^ -(value & 1);
    sum = delta ? sum + value : value;
    out[row] = sum;
  }
  if (at > bytes.length) throw new Error("A column of the timeline is cut off.");
  return out;
}

export function floatColumn(bytes: Uint8Array<ArrayBuffer>): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Float32Array(bytes.byteLength >> 2);
  for (let i = 0; i < out.length; i++) out[i] = view.getFloat32(4 * i, true);
  return out;
}
