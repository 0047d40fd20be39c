// JSON without silent changes: JavaScript's numbers are doubles, and 9007199254740993 would become 9007199254740992.

/** As JSON.parse. Throws a RangeError for a number that would become another one. */
export function parseExactly(text: string): any {
  const mayChange = /\d{16}|e\+?\d{3}/i.test(text); // most texts have no such digits, and need no second look
  return mayChange ? (JSON.parse as any)(text, requireSame) : JSON.parse(text);
}

function requireSame(_: string, value: any, { source }: any): any {
  if (typeof value !== "number") return value;
  const isInteger = /^-?\d+$/.test(source);
  if (!Number.isFinite(value) || (isInteger && BigInt(source) !== BigInt(value)))
    throw new RangeError(`JavaScript has no number ${source.slice(0, 50)}`);
  return value;
}
