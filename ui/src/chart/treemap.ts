// Rectangles as large as their values, in one frame.

export interface Tile<Item> {
  item: Item;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The longer side over the shorter one of the worst tile, if these areas share a row along a side of that length. */
function worst(areas: number[], side: number): number {
  const sum = areas.reduce((a, b) => a + b, 0);
  const thickness = sum / side;
  return Math.max(...areas.map((area) => Math.max(thickness ** 2 / area, area / thickness ** 2)));
}

/**
 * Fills a frame with tiles that are as square as possible, largest first: rows along the shorter side of what is left,
 * each with as many tiles as make its worst one better. Items without a positive size have no tile.
 */
export function treemap<Item>(
  items: Item[],
  sizeOf: (item: Item) => number,
  frame: { width: number; height: number },
): Tile<Item>[] {
  const sorted = items.filter((item) => sizeOf(item) > 0).sort((a, b) => sizeOf(b) - sizeOf(a));
  const all = sorted.reduce((sum, item) => sum + sizeOf(item), 0);
  const perUnit = (frame.width * frame.height) / all;
  const tiles: Tile<Item>[] = [];
  let left = 0;
  let top = 0;
  let { width, height } = frame;
  let at = 0;
  while (at < sorted.length) {
    const side = Math.min(width, height);
    const row: number[] = [];
    while (at + row.length < sorted.length) {
      const area = sizeOf(sorted[at + row.length]!) * perUnit;
      if (row.length > 0 && worst([...row, area], side) > worst(row, side)) break;
      row.push(area);
    }
    const thickness = row.reduce((a, b) => a + b, 0) / side;
    const isColumn = width >= height;
    let along = 0;
    for (const area of row) {
      const length = area / thickness;
      tiles.push({
        item: sorted[at++]!,
        left: isColumn ? left : left + along,
        top: isColumn ? top + along : top,
        width: isColumn ? thickness : length,
        height: isColumn ? length : thickness,
      });
      along += length;
    }
    if (isColumn) {
      left += thickness;
      width -= thickness;
    } else {
      top += thickness;
      height -= thickness;
    }
  }
  return tiles;
}
