// Scheduler: output tiles in groups of 16 tile rows, column by column, dealt out to a persistent grid.
// The CTAs that run at once then cover a nearly square part of the output, which reads the fewest bytes of A and B.
#include <pipelink/component.cuh>

PL_COMPONENT(plc::grouped_tiles) {
PL_ANSWER(next, pl::tile_coord(int));
PL_PARAM(m_tiles, int);
PL_PARAM(n_tiles, int);
PL_GRID("min(m_tiles * n_tiles, sms * occupancy)");

PL_DEFINE(next)(pl::self self, int i) -> pl::tile_coord {
  constexpr int group = 16;
  const int rows = m_tiles(self), columns = n_tiles(self), t = blockIdx.x + i * gridDim.x;
  const int first = t / (group * columns) * group, in_group = t % (group * columns);
  const int height = max(min(rows - first, group), 1);  // 1: past the last tile
  return {first + in_group % height, in_group / height, t < rows * columns};
}
}
