// The data blocks of the page: <script type="application/octet-stream" id="block-NAME">, base64 of a zlib stream.

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function hasBlock(name: string): boolean {
  return document.getElementById(`block-${name}`) !== null;
}

/** The inflated bytes of a block; empties the element to free its text. */
export async function readBlock(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const element = document.getElementById(`block-${name}`);
  if (!element)
    throw new Error(
      `The page has no data block "${name}": it was cut off or edited. Write it again with llmprof report.`,
    );
  const packed = bytesOfBase64((element.textContent ?? "").trim());
  element.textContent = "";
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

export async function readJson<T>(name: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await readBlock(name))) as T;
}
