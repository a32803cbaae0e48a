// Scheduler for clusters of two CTAs: both get tiles of one column of output tiles in neighbouring rows, and equally
// many, so that they may share what they load of B (transfer `cluster`).  Pairs of rows go in groups of 8, column by
// column, as in grouped_tiles.  Where the number of tile rows is odd, the last pair's second tile lies below the
// output: TMA fills it with zeros, the epilogue does not store it.
#include <pipelink/component.cuh>

PL_COMPONENT(plc::paired_tiles) {
PL_ANSWER(next, pl::tile_coord(int));
PL_PARAM(m_tiles, int);
PL_PARAM(n_tiles, int);
PL_CLUSTER(2);
PL_PROMISE(cluster_lockstep, 2);
PL_GRID("2 * min(ceildiv(m_tiles, 2) * n_tiles, sms * occupancy / 2)");

PL_DEFINE(next)(pl::self self, int i) -> pl::tile_coord {
  constexpr int group = 8;
  const int pairs = (m_tiles(self) + 1) / 2, columns = n_tiles(self), t = (blockIdx.x + i * gridDim.x) / 2;
  const int first = t / (group * columns) * group, in_group = t % (group * columns);
  const int height = max(min(pairs - first, group), 1);  // 1: past the last tile
  return {(first + in_group % height) * 2 + static_cast<int>(blockIdx.x & 1), in_group / height, t < pairs * columns};
}
}
