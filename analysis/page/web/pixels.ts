// Many rectangles or dots as the pixels of one image: a canvas draws them as one shape, however many
// they are. Edges of rectangles lie on pixels of the screen, and a later one covers an earlier one.

const known = new Map<string, Uint8ClampedArray>();

// Returns red, green, blue and opacity of a colour that is written as in a style sheet.
export function bytesOf(colour: string): Uint8ClampedArray {
  let found = known.get(colour);
  if (!found) {
    const inner = new OffscreenCanvas(1, 1).getContext("2d")!;
    inner.fillStyle = colour;
    inner.fillRect(0, 0, 1, 1);
    known.set(colour, found = inner.getImageData(0, 0, 1, 1).data);
  }
  return found;
}

// A colour as one number, in the order of this machine's bytes.
function pixelOf(colour: string, opacity: number): number {
  const bytes = bytesOf(colour).slice();
  bytes[3] = Math.round(bytes[3] * opacity);
  return new Uint32Array(bytes.buffer)[0];
}

export class PixelLayer {
  private ratio = window.devicePixelRatio || 1;
  private image: ImageData;
  private pixels: Uint32Array;
  private inks = new Map<string, number>();
  private painted: OffscreenCanvas | undefined;

  // Rectangles are cut off at the edges of this part of the picture.
  constructor(private left: number, private top: number, wide: number, tall: number) {
    this.image = new ImageData(Math.max(1, Math.round(wide * this.ratio)), Math.max(1, Math.round(tall * this.ratio)));
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  // A rectangle is at least one pixel wide and tall.
  fill(x: number, y: number, wide: number, tall: number, colour: string, opacity = 1): void {
    const name = opacity === 1 ? colour : `${colour} ${opacity}`;
    let ink = this.inks.get(name);
    if (ink === undefined) this.inks.set(name, ink = pixelOf(colour, opacity));
    this.painted = undefined;
    const { width, height } = this.image;
    const from = Math.round((x - this.left) * this.ratio), upper = Math.round((y - this.top) * this.ratio);
    const to = Math.min(width, Math.max(from + 1, Math.round((x - this.left + wide) * this.ratio)));
    const lower = Math.min(height, Math.max(upper + 1, Math.round((y - this.top + tall) * this.ratio)));
    const begin = Math.max(0, from);
    if (begin >= to) return;
    for (let row = Math.max(0, upper); row < lower; ++row) this.pixels.fill(ink, row * width + begin, row * width + to);
  }

  // A dot around a point. Its edge is smooth. Dots that overlap must have one colour: each pixel
  // keeps the one that covers it most.
  dot(x: number, y: number, radius: number, colour: string): void {
    const { width, height, data } = this.image;
    const [red, green, blue] = bytesOf(colour);
    this.painted = undefined;
    const across = (x - this.left) * this.ratio, down = (y - this.top) * this.ratio, far = radius * this.ratio + 0.5;
    const right = Math.min(width, Math.ceil(across + far)), bottom = Math.min(height, Math.ceil(down + far));
    for (let row = Math.max(0, Math.floor(down - far)); row < bottom; ++row)
      for (let column = Math.max(0, Math.floor(across - far)); column < right; ++column) {
        const away = Math.sqrt((column + 0.5 - across) ** 2 + (row + 0.5 - down) ** 2);
        const opacity = Math.round(255 * Math.min(1, far - away));
        const at = 4 * (row * width + column);
        if (opacity <= data[at + 3]) continue;
        data[at] = red;
        data[at + 1] = green;
        data[at + 2] = blue;
        data[at + 3] = opacity;
      }
  }

  // `shift`: how far to the right of its place the layer is painted.
  paint(context: CanvasRenderingContext2D, shift = 0): void {
    const { width, height } = this.image;
    if (!this.painted) {
      this.painted = new OffscreenCanvas(width, height);
      this.painted.getContext("2d")!.putImageData(this.image, 0, 0);
    }
    context.imageSmoothingEnabled = false;
    const left = this.left + Math.round(shift * this.ratio) / this.ratio;
    context.drawImage(this.painted, left, this.top, width / this.ratio, height / this.ratio);
  }
}
