// Scheduler: output tiles in row-major order, dealt out to a persistent grid.
#include <pipelink/component.cuh>

PL_COMPONENT(plc::static_tiles) {
PL_ANSWER(next, pl::tile_coord(int));
PL_PARAM(m_tiles, int);
PL_PARAM(n_tiles, int);
PL_GRID("min(m_tiles * n_tiles, sms * occupancy)");

PL_DEFINE(next)(pl::self self, int i) -> pl::tile_coord {
  const int t = blockIdx.x + i * gridDim.x, columns = n_tiles(self);
  return {t / columns, t % columns, t < m_tiles(self) * columns};
}
}
