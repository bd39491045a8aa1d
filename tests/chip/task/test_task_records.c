/* Tasks of a newer compiler (macOS 26), whose words joshuaswarren/mil-hwx-compiler has recorded (research/oracles/h13):
 * 126 words where no coefficients are read, other base registers, groups, steps, zeros skipped. Each gives the value of
 * its MIL operation on random inputs and weights; where weights lie is written here once more, by that project's rule.
 */
#include "base/number/fp16.h"
#include "chip/hwx/hwx_made.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 0x10000, CONSTANTS = 0x8000, WORDS = 157 };

typedef struct word {
    uint32_t address, value;
} word;

/* Words that all of them have. */
static const word common[] = {
    {0x00004, 1},        {0x00008, 0x22},      {0x00018, 1},         {0x00020, 0x2041},
    {0x00038, 0x100000}, {0x13800, 0x33881},   {0x13804, 0x8880},    {0x13838, 0x1002031},
    {0x13840, 0x100},    {0x17800, 0x40000c1}, {0x17818, 0x1302031}, {0x0c810, 0x3c00},
    {0x04804, 0x500172}, {0x04830, 0x50017a},  {0x1380c, 0x40},      {0x17808, 0x40},
};

typedef struct record {
    const char *name;
    uint32_t w8, w9;
    bool reads; /* coefficients: 62 words of their DMA, else 18 and 12 */
    word words[32];
} record;

static const record add = {"binary_add_1x64x8x8",
                           0x000259a4,
                           0,
                           false,
                           {{0x00000, 0x80008},    {0x00008, 0x2a},       {0x0000c, 0x40},       {0x00010, 0x40},
                            {0x00014, 0x80008},    {0x0001c, 0x5000a021}, {0x00024, 0x10001},    {0x00028, 8},
                            {0x0002c, 0x34},       {0x00034, 0x33},       {0x00038, 0},          {0x13804, 0x33880},
                            {0x13810, 0x200},      {0x13814, 0x8000},     {0x13818, 0x8000},     {0x13820, 0x40},
                            {0x13824, 0x200},      {0x13828, 0x8000},     {0x1382c, 0x8000},     {0x1383c, 0x2030},
                            {0x13840, 0x100},      {0x08800, 0x80000},    {0x08804, 0x3c000000}, {0x08808, 0x3c000000},
                            {0x0880c, 0x3f800000}, {0x0c800, 0x80},       {0x0c804, 0x100000},   {0x0c810, 0},
                            {0x1780c, 0x200},      {0x17810, 0x8000},     {0x17814, 0x8000}}};

static const record relu = {"unary_relu_c64",
                            0x05025024,
                            0,
                            false,
                            {{0x00000, 0x10001},
                             {0x0000c, 0x40},
                             {0x00010, 0x40},
                             {0x00014, 0x10001},
                             {0x0001c, 0x5000a021},
                             {0x00024, 0x14001},
                             {0x00028, 1},
                             {0x00034, 0x200001},
                             {0x13810, 0x40},
                             {0x13814, 0x1000},
                             {0x13818, 0x1000},
                             {0x0c800, 0x82},
                             {0x0c804, 0x111c0c},
                             {0x1780c, 0x40},
                             {0x17810, 0x1000},
                             {0x17814, 0x1000}}};

static const record conv_bias = {"conv_probe_k1_c64_n64_s8_st1_g1_bias1_same",
                                 0x05025024,
                                 0x21,
                                 true,
                                 {{0x00000, 0x80008},
                                  {0x0000c, 0x40},
                                  {0x00010, 0x40},
                                  {0x00014, 0x80008},
                                  {0x0001c, 0x5000a821},
                                  {0x00024, 0x10001},
                                  {0x00028, 8},
                                  {0x00034, 0x244405},
                                  {0x13810, 0x200},
                                  {0x13814, 0x8000},
                                  {0x13818, 0x8000},
                                  {0x0c800, 0x82},
                                  {0x0c804, 0x101c10},
                                  {0x1780c, 0x200},
                                  {0x17810, 0x8000},
                                  {0x17814, 0x8000},
                                  {0x1f800, 0x40}}};

static const record conv_groups = {"conv_probe_k3_c64_n64_s16_st1_g4_bias0_same",
                                   0x05025024,
                                   0x21,
                                   true,
                                   {{0x00000, 0x100010},
                                    {0x0000c, 0x10},
                                    {0x00010, 0x10},
                                    {0x00014, 0x100010},
                                    {0x0001c, 0x5042a063},
                                    {0x00024, 0x10004},
                                    {0x00028, 0x10},
                                    {0x00034, 0x230001},
                                    {0x13810, 0x400},
                                    {0x13814, 0x10000},
                                    {0x13818, 0x4000},
                                    {0x0c800, 0x82},
                                    {0x0c804, 0x101c00},
                                    {0x1780c, 0x400},
                                    {0x17810, 0x10000},
                                    {0x17814, 0x4000},
                                    {0x1f800, 0x40}}};

static const record conv_step = {"conv_known_k1_c64_n64_s16_st2_g1_bias1_same",
                                 0x05025024,
                                 0x21,
                                 true,
                                 {{0x00000, 0x100010},
                                  {0x0000c, 0x40},
                                  {0x00010, 0x40},
                                  {0x00014, 0x80008},
                                  {0x0001c, 0x50014821},
                                  {0x00024, 0x10001},
                                  {0x00028, 8},
                                  {0x00034, 0x244405},
                                  {0x13810, 0x400},
                                  {0x13814, 0x10000},
                                  {0x13818, 0x10000},
                                  {0x0c800, 0x182},
                                  {0x0c804, 0x101c10},
                                  {0x1780c, 0x200},
                                  {0x17810, 0x8000},
                                  {0x17814, 0x8000},
                                  {0x1f800, 0x60}}};

/* ---- a task of a record ---- */

typedef struct machine {
    uint8_t text[4 * WORDS], constants[CONSTANTS];
    size_t words, used; /* of text; bytes of constants */
    uint64_t bases[MW__BASE_REGISTERS];
    uint8_t *memory[3]; /* of base registers 4, 5, 6 */
    uint32_t tile_at[16], tile_size[16];
} machine;

static void append(machine *m, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        m->text[4 * m->words + (size_t)i] = (uint8_t)(value >> (8 * i));
    m->words++;
}

static uint32_t value_at(const machine *m, const record *r, uint32_t address)
{
    uint32_t value = 0;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        value = common[i].address == address ? common[i].value : value;
    for (int i = 0; i < 32; i++)
        if (r->words[i].address == address && (address != 0 || i == 0))
            value = r->words[i].value;
    if (address >= 0x1f808 && address < 0x1f848)
        return r->reads ? 0x81 : 0x80;
    if (r->reads && address >= 0x1f848 && address < 0x1f888)
        return m->tile_at[(address - 0x1f848) / 4];
    if (r->reads && address >= 0x1f888 && address < 0x1f8c8)
        return m->tile_size[(address - 0x1f888) / 4];
    return value;
}

static void append_run(machine *m, const record *r, uint32_t address, uint32_t count)
{
    append(m, (count - 1) << 26 | address);
    for (uint32_t i = 0; i < count; i++)
        append(m, value_at(m, r, address + 4 * i));
}

static void write_task(machine *m, const record *r)
{
    const uint32_t header[10] = {0x02000000, 0, 0x42a, 0, 0xfff86a, 0, 0x30009800, 0, r->w8, r->w9};
    for (int i = 0; i < 10; i++)
        append(m, header[i]);
    append_run(m, r, 0x1f800, r->reads ? 62 : 18);
    if (!r->reads)
        append_run(m, r, 0x1f8c8, 12);
    append_run(m, r, 0x00000, 16);
    append_run(m, r, 0x13800, 28);
    append_run(m, r, 0x04800, 18);
    append_run(m, r, 0x08800, 4);
    append_run(m, r, 0x0c800, 5);
    append_run(m, r, 0x17800, 7);
    CHECK_INT(m->words, r->reads ? 157 : 126);
}

static machine *make(uint64_t seed)
{
    machine *m = calloc(1, sizeof *m);
    hwx_made_seed(seed);
    for (int i = 0; i < 3; i++)
        m->memory[i] = calloc(1, WINDOW);
    return m;
}

static void destroy(machine *m)
{
    for (int i = 0; i < 3; i++)
        free(m->memory[i]);
    free(m);
}

static void run(machine *m, const record *r)
{
    mw__chip_window windows[4] = {{"constants", 0x100, m->constants, CONSTANTS, false}};
    mw__chip_machine chip = {
        .bases = m->bases, .windows = windows, .window_count = 4, .limits = {.work = 1 << 24, .memory = 1 << 24}};
    mw__task task;
    mw_error err = {0};
    m->bases[1] = 0x100;
    for (int i = 0; i < 3; i++) {
        m->bases[4 + i] = 0x100000 * (uint64_t)(i + 1);
        windows[1 + i] = (mw__chip_window){"port", m->bases[4 + i], m->memory[i], WINDOW, i == 1};
    }
    write_task(m, r);
    CHECK(mw__task_read(m->text, sizeof m->text, 0, m->words, &task, &err) == MW_OK);
    CHECK(mw__task_run_one(&chip, &task, &err) == MW_OK);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", r->name, err.message);
}

/* ---- elements of [C, S, S] in rows of 64 bytes ---- */

static uint8_t *element(uint8_t *memory, int side, int c, int y, int x) { return memory + (c * side + y) * 64 + 2 * x; }

static double get(uint8_t *at) { return (double)mw__fp16_to_float((uint16_t)(at[0] | at[1] << 8)); }

static void put(uint8_t *at, double value)
{
    const uint16_t half = mw__fp16_from_double(value);
    at[0] = (uint8_t)half;
    at[1] = (uint8_t)(half >> 8);
}

static void fill(uint8_t *memory, int side)
{
    for (int c = 0; c < 64; c++)
        for (int i = 0; i < side * side; i++)
            put(element(memory, side, c, i / side, i % side), hwx_made_number());
}

static bool is_near(double got, double want, double size, int terms)
{
    int power;
    frexp(fabs(want), &power);
    return fabs(got - want) <= ldexp(0.5, (power < -13 ? -13 : power) - 11) + terms * 0x1p-24 * size;
}

/* ---- element by element ---- */

static void test_add_and_relu_of_126_words(void)
{
    machine *m = make(1), *n = make(2);
    int wrong = 0;
    fill(m->memory[0], 8);
    fill(m->memory[2], 8);
    run(m, &add);
    for (int c = 0; c < 64; c++)
        for (int i = 0; i < 64; i++) {
            const double want =
                get(element(m->memory[0], 8, c, i / 8, i % 8)) + get(element(m->memory[2], 8, c, i / 8, i % 8));
            wrong += !is_near(get(element(m->memory[1], 8, c, i / 8, i % 8)), want, 0.0, 0);
        }
    fill(n->memory[0], 1);
    run(n, &relu);
    for (int c = 0; c < 64; c++)
        wrong += get(element(n->memory[1], 1, c, 0, 0)) != fmax(get(element(n->memory[0], 1, c, 0, 0)), 0.0);
    CHECK_INT(wrong, 0);
    destroy(m);
    destroy(n);
}

/* ---- convolutions ---- */

/* [64, each, kernel, kernel] and biases, some of them zeros. */
typedef struct layer {
    int each, kernel, side, step, groups;
    bool bias;
    double w[64 * 16 * 9], b[64];
} layer;

static double weight(const layer *l, int o, int row) { return l->w[o * l->each * l->kernel * l->kernel + row]; }

static layer *make_layer(int each, int kernel, int side, int step, int groups, bool bias)
{
    layer *l = calloc(1, sizeof *l);
    *l = (layer){.each = each, .kernel = kernel, .side = side, .step = step, .groups = groups, .bias = bias};
    for (int i = 0; i < 64 * each * kernel * kernel; i++)
        l->w[i] = i % 5 == 3 ? 0.0 : hwx_made_number();
    for (int o = 0; o < 64; o++)
        l->b[o] = hwx_made_number();
    return l;
}

static double expected(const layer *l, uint8_t *in, int o, int y, int x, double *out_size)
{
    double sum = l->bias ? l->b[o] : 0.0;
    *out_size = fabs(sum);
    for (int row = 0; row < l->each * l->kernel * l->kernel; row++) {
        const int tap = row % (l->kernel * l->kernel),
                  c = o / (64 / l->groups) * l->each + row / (l->kernel * l->kernel);
        const int down = y * l->step + tap / l->kernel - l->kernel / 2,
                  right = x * l->step + tap % l->kernel - l->kernel / 2;
        if (down < 0 || down >= l->side || right < 0 || right >= l->side)
            continue;
        const double term = weight(l, o, row) * get(element(in, l->side, c, down, right));
        sum += term;
        *out_size += fabs(term);
    }
    return sum;
}

static void check_layer(machine *m, const record *r, const layer *l)
{
    const int out = l->side / l->step, terms = l->each * l->kernel * l->kernel + 1;
    int wrong = 0;
    fill(m->memory[0], l->side);
    run(m, r);
    for (int o = 0; o < 64; o++)
        for (int i = 0; i < out * out; i++) {
            double size;
            const double want = expected(l, m->memory[0], o, i / out, i % out, &size);
            wrong += !is_near(get(element(m->memory[1], out, o, i / out, i % out)), want, size, terms);
        }
    check_note(wrong == 0, __FILE__, __LINE__, "%s: %d wrong", r->name, wrong);
}

static void end_tile(machine *m, int tile, size_t start)
{
    m->used = (m->used + 63) / 64 * 64;
    m->tile_at[tile] = (uint32_t)start;
    m->tile_size[tile] = (uint32_t)(m->used - start);
}

static void put_next(machine *m, double value)
{
    put(m->constants + m->used, value);
    m->used += 2;
}

/* Four channels side by side, a row of biases before them. */
static void test_convolution_with_bias(void)
{
    machine *m = make(3);
    layer *l = make_layer(64, 1, 8, 1, 1, true);
    for (int tile = 0; tile < 16; tile++) {
        const size_t start = m->used;
        for (int row = -1; row < 64; row++)
            for (int lane = 0; lane < 4; lane++)
                put_next(m, row < 0 ? l->b[4 * tile + lane] : weight(l, 4 * tile + lane, row));
        end_tile(m, tile, start);
    }
    check_layer(m, &conv_bias, l);
    free(l);
    destroy(m);
}

/* A plane of one channel for each group, each of whole 64 bytes. */
static void test_convolution_in_groups(void)
{
    machine *m = make(4);
    layer *l = make_layer(16, 3, 16, 1, 4, false);
    for (int tile = 0; tile < 16; tile++) {
        const size_t start = m->used;
        for (int group = 0; group < 4; group++) {
            for (int row = 0; row < 144; row++)
                put_next(m, weight(l, 16 * group + tile, row));
            m->used = (m->used + 63) / 64 * 64;
        }
        end_tile(m, tile, start);
    }
    CHECK_INT(m->tile_size[0], 0x500); /* as recorded */
    check_layer(m, &conv_groups, l);
    free(l);
    destroy(m);
}

static void put_sparse_row(machine *m, const layer *l, int tile, int row)
{
    uint8_t *mask = m->constants + m->used + 1;
    m->used += 2;
    for (int lane = 0; lane < 4; lane++)
        if (weight(l, 4 * tile + lane, row) != 0.0) {
            *mask |= (uint8_t)(1 << lane);
            put_next(m, weight(l, 4 * tile + lane, row));
        }
}

static void test_convolution_in_steps_skips_zeros(void)
{
    machine *m = make(5);
    layer *l = make_layer(64, 1, 16, 2, 1, true);
    for (int tile = 0; tile < 16; tile++) {
        const size_t start = m->used;
        for (int lane = 0; lane < 4; lane++)
            put_next(m, l->b[4 * tile + lane]);
        m->used += 2; /* how many bytes follow, which no value depends on */
        for (int row = 0; row < 64; row++)
            put_sparse_row(m, l, tile, row);
        end_tile(m, tile, start);
    }
    check_layer(m, &conv_step, l);
    free(l);
    destroy(m);
}

int main(void)
{
    RUN(test_add_and_relu_of_126_words);
    RUN(test_convolution_with_bias);
    RUN(test_convolution_in_groups);
    RUN(test_convolution_in_steps_skips_zeros);
    return check_finish();
}
