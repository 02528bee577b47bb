// Makes the screenshots small: pictures of 256 colours, which is all that text and a few areas need.
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

// The picture with a palette. Takes what Chromium writes: 8 bits, RGB or RGBA, not interlaced.
export function small(png) {
  const { width, height, pixels } = read(png);
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
    counts.set(colour, (counts.get(colour) || 0) + 1);
  }
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([colour]) => colour);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const far = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  const placeOf = (colour) => {
    if (!places.has(colour)) {
      let best = 0;
      for (let place = 1; place < palette.length; place += 1) if (far(colour, palette[place]) < far(colour, palette[best])) best = place;
      places.set(colour, best);
    }
    return places.get(colour);
  };
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0, from = 0, to = 0; y < height; y += 1) {
    lines[to++] = 0;
    for (let x = 0; x < width; x += 1, from += 3) lines[to++] = placeOf((pixels[from] << 16) | (pixels[from + 1] << 8) | pixels[from + 2]);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

// The pixels without transparency, three bytes each.
function read(png) {
  let width = 0;
  let height = 0;
  let channels = 0;
  const parts = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const kind = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") {
      width = data.readUInt32BE(0);
      height = data.readUInt32BE(4);
      channels = { 2: 3, 6: 4 }[data[9]];
      if (data[8] !== 8 || !channels || data[12] !== 0) throw new Error("a PNG of another kind");
    }
    if (kind === "IDAT") parts.push(data);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = Buffer.alloc(width * height * 3);
  let above = Buffer.alloc(stride);
  for (let y = 0, from = 0; y < height; y += 1) {
    const filter = raw[from++];
    const line = Buffer.from(raw.subarray(from, from + stride));
    from += stride;
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : line[x - channels];
      const corner = x < channels ? 0 : above[x - channels];
      const guess = [0, left, above[x], (left + above[x]) >> 1, paeth(left, above[x], corner)][filter];
      line[x] = (line[x] + guess) & 255;
    }
    for (let x = 0; x < width; x += 1) line.copy(pixels, (y * width + x) * 3, x * channels, x * channels + 3);
    above = line;
  }
  return { width, height, pixels };
}

function paeth(left, above, corner) {
  const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), data.length + 8);
  return out;
}

function crc(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
