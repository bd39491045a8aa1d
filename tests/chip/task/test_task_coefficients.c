/* Where coefficients lie: sections that Apple's compiler wrote, of which joshuaswarren/mil-hwx-compiler has recorded
 * the SHA-256 (research/oracles/h13, compiled from weights that are known), are made here by our rule and have that
 * sum. */
#include "chip/hwx/sha256.h"
#include "chip/task/coefficients.h"
#include "support/check.h"

#include <stdlib.h>

/* ---- the weights of those records: a file of 128 bytes of head and one number over and over, from its first byte ----
 */

static uint16_t *weights_of(size_t count, uint16_t number)
{
    uint16_t *w = calloc(count + 64, sizeof *w);
    const uint64_t size = 2 * (uint64_t)count;
    for (size_t i = 64; i < count; i++)
        w[i] = number;
    w[0] = 1; /* two words: 1, 2 */
    w[2] = 2;
    w[32] = 0xbeef; /* at byte 64: 0xdeadbeef, then bytes and place, both of 64 bits */
    w[33] = 0xdead;
    for (int i = 0; i < 4; i++)
        w[34 + i] = (uint16_t)(size >> (16 * i));
    w[38] = 128;
    return w;
}

typedef struct recorded {
    const char *name, *sum;
    mw__coefficient_layout layout;
    uint16_t number;
    int64_t size;
} recorded;

static const recorded dense[] = {
    {"conv_probe_k3_c64_n64_s16_st1_g1_bias0_same",
     "a20a9e6385b890455d218ab264cb89dff7fe76c5d3ae02dc8e432ba54c13fb64",
     {.outputs = 64, .groups = 1, .rows = 576, .engines = 16, .lanes = 4},
     0x3800,
     73728},
    {"conv_probe_k1_c64_n64_s8_st1_g1_bias1_same",
     "5b3607333ad6c1a1b6ecae53624b08d8576c2c35826177fd84889213b36d89ad",
     {.outputs = 64, .groups = 1, .rows = 64, .engines = 16, .lanes = 4, .bias = true},
     0x3800,
     9216},
    {"conv_known_k1_c64_n768_s16_st1_g1_bias1_same",
     "8c76843cbcd76b3b1b23faac151883af724de1b5f92df82cf05b8c4cd583b6e3",
     {.outputs = 768, .groups = 1, .rows = 64, .engines = 16, .lanes = 16, .bias = true},
     0x3801,
     100352},
    {"conv_probe_k3_c64_n64_s16_st1_g4_bias0_same",
     "e8bb5ac2e2e90b742d8a3bfa12338c8a9fd9f48fe2aa2abdc8eb130712231bd1",
     {.outputs = 16, .groups = 4, .rows = 144, .engines = 16, .lanes = 1},
     0x3800,
     20480},
    {"conv_known_k3_c64_n64_s16_st1_g64_bias0_same",
     "76d3e6b8bcce2f46370af4f64642601d176ec96563c5070c99e9ff16139a471c",
     {.outputs = 64, .groups = 1, .rows = 9, .engines = 16, .lanes = 1, .unicast = true},
     0x3801,
     2048},
};

static void put(uint8_t *at, uint16_t number)
{
    at[0] = (uint8_t)number;
    at[1] = (uint8_t)(number >> 8);
}

/* Tiles one behind the other; the number of the bias of output o is the weight o, as in the records. */
static int64_t write_section(const recorded *r, const uint16_t *w, uint8_t *out, mw__coefficient_tile *tiles)
{
    int64_t start[MW__TILES], size = 0;
    for (unsigned t = 0; t < MW__TILES; t++) {
        start[t] = size;
        tiles[t] = (mw__coefficient_tile){out + size, (size_t)mw__coefficient_tile_bytes(&r->layout, t)};
        size += mw__coefficient_tile_bytes(&r->layout, t);
    }
    for (int64_t g = 0; g < r->layout.groups; g++)
        for (int64_t o = 0; o < r->layout.outputs; o++) {
            const mw__coefficient_place p = mw__coefficient_find(&r->layout, g, o);
            uint8_t *at = out + start[p.tile] + 2 * p.first;
            const int64_t channel = g * r->layout.outputs + o;
            if (r->layout.bias)
                put(at, w[channel]);
            for (int64_t i = 0; i < r->layout.rows; i++)
                put(at + 2 * (i + r->layout.bias) * p.step, w[channel * r->layout.rows + i]);
        }
    return size;
}

static void check_dense(const recorded *r)
{
    const size_t count = (size_t)(r->layout.groups * r->layout.outputs * r->layout.rows);
    uint16_t *w = weights_of(count, r->number), *back = calloc((size_t)r->layout.rows + 1, sizeof *back);
    uint8_t *section = calloc(1, (size_t)r->size);
    mw__coefficient_tile tiles[MW__TILES];
    char sum[65];
    mw_error err = {0};
    CHECK_INT(write_section(r, w, section, tiles), r->size);
    sha256(section, (size_t)r->size, sum);
    check_note(strcmp(sum, r->sum) == 0, __FILE__, __LINE__, "%s: %s", r->name, sum);
    int64_t wrong = 0;
    for (int64_t g = 0; g < r->layout.groups; g++)
        for (int64_t o = 0; o < r->layout.outputs; o++) {
            const int64_t channel = g * r->layout.outputs + o;
            wrong += mw__coefficient_read(&r->layout, tiles, g, o, back, &err) != MW_OK;
            wrong += r->layout.bias && back[0] != w[channel];
            wrong += memcmp(back + r->layout.bias, w + channel * r->layout.rows, 2 * (size_t)r->layout.rows) != 0;
        }
    CHECK_INT(wrong, 0);
    free(section);
    free(back);
    free(w);
}

static void test_sections_have_the_recorded_sums(void)
{
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
        check_dense(&dense[i]);
}

/* ---- planes that skip zeros ---- */

static size_t write_sparse_tile(const uint16_t *w, int64_t first, uint8_t *out)
{
    enum { LANES = 4, ROWS = 64 };
    size_t at = 2 * LANES + 2;
    for (int i = 0; i < LANES; i++)
        put(out + 2 * i, w[first + i]);
    for (int row = 0; row < ROWS; row++) {
        uint8_t *mask = out + at + 1;
        at += 2;
        for (int lane = 0; lane < LANES; lane++) {
            const uint16_t number = w[(first + lane) * ROWS + row];
            if ((number & 0x7fff) == 0)
                continue;
            *mask |= (uint8_t)(1 << lane);
            put(out + at, number);
            at += 2;
        }
    }
    put(out + 2 * LANES, (uint16_t)(at - 2 * LANES - 2));
    return (at + 63) / 64 * 64;
}

static void test_zero_skipping_planes_are_read(void)
{
    const mw__coefficient_layout layout = {
        .outputs = 64, .groups = 1, .rows = 64, .engines = 16, .lanes = 4, .bias = true, .sparse = true};
    uint16_t *w = weights_of(4096, 0x3801), back[65];
    uint8_t *section = calloc(1, 16384);
    mw__coefficient_tile tiles[MW__TILES];
    size_t size = 0, wrong = 0;
    char sum[65];
    mw_error err = {0};
    for (int t = 0; t < MW__TILES; t++) {
        tiles[t] = (mw__coefficient_tile){section + size, write_sparse_tile(w, 4 * t, section + size)};
        size += tiles[t].size;
    }
    CHECK_INT(size, 11136);
    sha256(section, size, sum); /* conv_known_k1_c64_n64_s16_st2_g1_bias1_same */
    CHECK_STR(sum, "10a7d8f63dfe288e5737cbe9c5a039532498ee30853a850f4518ecb6da15b105");
    for (int64_t o = 0; o < 64; o++) {
        wrong += mw__coefficient_read(&layout, tiles, 0, o, back, &err) != MW_OK;
        wrong += back[0] != w[o];
        for (int64_t i = 0; i < 64; i++)
            wrong += back[1 + i] != w[o * 64 + i];
    }
    CHECK_INT(wrong, 0);
    for (size_t cut = 0; cut < tiles[3].size; cut++) { /* lanes 12 to 15; what is behind the last row is padding */
        mw_error short_err = {0};
        const mw__coefficient_tile whole = tiles[3];
        tiles[3].size = cut;
        const mw_status status = mw__coefficient_read(&layout, tiles, 0, 13, back, &short_err);
        wrong += status == MW_OK && cut < whole.size - 64;
        tiles[3] = whole;
    }
    CHECK_INT(wrong, 0);
    free(section);
    free(w);
}

/* ---- by counting: every number has a place of its own in its tile ---- */

static void check_places(const mw__coefficient_layout *l)
{
    enum { ROOM = 1 << 16 };
    static uint8_t taken[MW__TILES][ROOM];
    memset(taken, 0, sizeof taken);
    int64_t twice = 0, outside = 0;
    for (int64_t g = 0; g < l->groups; g++)
        for (int64_t o = 0; o < l->outputs; o++) {
            const mw__coefficient_place p = mw__coefficient_find(l, g, o);
            for (int64_t i = 0; i < l->rows + l->bias; i++) {
                const int64_t at = p.first + i * p.step;
                if (p.tile >= l->engines || at < 0 || 2 * at + 2 > mw__coefficient_tile_bytes(l, p.tile) || at >= ROOM)
                    outside++;
                else
                    twice += taken[p.tile][at]++ != 0;
            }
        }
    check_note(twice == 0 && outside == 0, __FILE__, __LINE__, "%lld outputs, %u lanes: %lld twice, %lld outside",
               (long long)l->outputs, l->lanes, (long long)twice, (long long)outside);
}

static void test_every_number_has_its_place(void)
{
    for (unsigned engines = 1; engines <= 16; engines *= 2)
        for (unsigned lanes = 1; lanes <= 32; lanes *= 2)
            for (int64_t outputs = 1; outputs < 700; outputs += outputs < 40 ? 1 : 37)
                for (int kind = 0; kind < 4; kind++) {
                    const mw__coefficient_layout l = {.outputs = outputs,
                                                      .groups = kind == 3 ? 3 : 1,
                                                      .rows = 5,
                                                      .engines = engines,
                                                      .lanes = lanes,
                                                      .bias = kind == 1,
                                                      .unicast = kind == 2};
                    check_places(&l);
                }
}

/* ---- what a compiler takes ---- */

static void test_engines_and_lanes_of_the_public_files(void)
{
    CHECK_INT(mw__coefficient_engines(1), 1);
    CHECK_INT(mw__coefficient_engines(2), 2);
    CHECK_INT(mw__coefficient_engines(3), 4);
    CHECK_INT(mw__coefficient_engines(16), 16);
    CHECK_INT(mw__coefficient_engines(512), 16);
    CHECK_INT(mw__coefficient_lanes(3, 3, 1), 1);
    CHECK_INT(mw__coefficient_lanes(64, 64, 1), 4);
    CHECK_INT(mw__coefficient_lanes(512, 512, 1), 32);
    CHECK_INT(mw__coefficient_lanes(64, 576, 16), 4);
    CHECK_INT(mw__coefficient_lanes(768, 64, 16), 16);
    CHECK_INT(mw__coefficient_lanes(512, 4608, 16), 4); /* 32768 / 4608 = 7 */
}

static void test_a_tile_that_ends_early_is_refused(void)
{
    const mw__coefficient_layout l = {.outputs = 4, .groups = 1, .rows = 8, .engines = 4, .lanes = 1};
    const uint8_t data[64] = {0};
    uint16_t out[8];
    mw_error err = {0};
    mw__coefficient_tile tiles[MW__TILES] = {{data, 64}, {data, 15}, {data, 64}, {NULL, 0}};
    CHECK_INT(mw__coefficient_read(&l, tiles, 0, 0, out, &err), MW_OK);
    CHECK(mw__coefficient_read(&l, tiles, 0, 1, out, &err) == MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "engine 1");
    err = (mw_error){0};
    CHECK(mw__coefficient_read(&l, tiles, 0, 3, out, &err) == MW_ERROR_FORMAT);
}

int main(void)
{
    RUN(test_sections_have_the_recorded_sums);
    RUN(test_zero_skipping_planes_are_read);
    RUN(test_every_number_has_its_place);
    RUN(test_engines_and_lanes_of_the_public_files);
    RUN(test_a_tile_that_ends_early_is_refused);
    return check_finish();
}
