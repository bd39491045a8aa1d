/* The loops of round_chip.h, one for each sum of what may be done. */
#include "engine/kernels/math/math.h"

#include "engine/kernels/math/round_vector.h"

#define LOOP(how) MW__ROUND_LOOPS(chip_##how, how)

/* Every sum below 32, and those of a slice, which is not rounded and no product. */
/* clang-format off */
#define EACH(DO)                                                                                                       \
    DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18)     \
    DO(19) DO(20) DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31) DO(32) DO(34)
/* clang-format on */

EACH(LOOP)

enum { SUMS = 35 };

mw__loop1 *mw__round_chip_loop(mw__level level, unsigned how)
{
#define ROW(how) [how] = MW__BASE_AVX2_AVX512_LIST(chip_##how),
    static mw__loop1 *const loops[SUMS][3] = {EACH(ROW)};
    return loops[how][level > MW__LEVEL_BASE ? level - MW__LEVEL_BASE : 0];
}
