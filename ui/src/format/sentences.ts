/** Capitalizes the first letter, unless the first word is a name like llama.cpp. */
export function asSentence(text: string): string {
  const [first = ""] = text.split(" ");
  return /^[a-z]+[,:;]?$/.test(first) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
