/* The published words of M6 (../shared/data/ane-numerics, read there and never copied): the first task of a convolution
 * of 1 x 8 over 16 x 32 pixels of 256 channels, and the kernel words of 19 convolutions. */
#include "chip/hwx/hwx.h"
#include "chip/hwx/operation.h"
#include "support/check.h"

#include <stdlib.h>

#define FOLDER MW_SHARED_DATA "/ane-numerics/"

enum { LINE = 256, WORDS = 256, FIELDS = 11 };

static size_t read_words(uint32_t words[WORDS])
{
    char line[LINE];
    size_t count = 0;
    FILE *file = fopen(FOLDER "td_1x8_h18g.words", "r");
    for (; file != NULL && count < WORDS && fgets(line, sizeof line, file) != NULL; count++)
        words[count] = (uint32_t)strtoul(line, NULL, 16);
    if (file != NULL)
        fclose(file);
    return count;
}

static uint32_t value(const mw_hwx *hwx, uint32_t address)
{
    uint32_t word = UINT32_MAX;
    mw__hwx_task_register(mw__hwx_task_at(hwx, 0), address, &word);
    return word;
}

static uint32_t field(const mw_hwx *hwx, const char *name)
{
    const mw__packet_bits *bits = mw__packet_bits_named(name);
    return CHECK(bits != NULL) ? mw__packet_bits_of(bits, value(hwx, bits->address)) : 0;
}

static void check_fields(const mw_hwx *hwx)
{
    static const struct {
        const char *name;
        uint32_t value;
    } fields[] = {{"win", 32},     {"hin", 16},          {"cin", 256},         {"wout", 32},
                  {"hout", 16},    {"cout", 256},        {"kernel_w", 8},      {"kernel_h", 1},
                  {"stride_w", 1}, {"stride_h", 1},      {"pad_left", 3},      {"pad_top", 0},
                  {"offset_w", 1}, {"offset_h", 1},      {"type", 0},          {"winograd", 0},
                  {"lanes", 4},    {"task_nid", 1},      {"kernel_format", 2}, {"palette_bits", 8},
                  {"sparse", 0},   {"detect_zeros", 1},  {"activation", 1},    {"binary_point", 0x3c},
                  {"bias_row", 0}, {"post_scale_on", 0}, {"kernel_enable", 1}, {"source_interleave", 1}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_note(field(hwx, fields[i].name) == fields[i].value, __FILE__, __LINE__, "%s is %u, not %u",
                   fields[i].name, field(hwx, fields[i].name), fields[i].value);
}

/* 16 tiles of 16 channels of 256 x 8 halves; rows of 32 halves, planes of 16 rows. */
static void check_sizes(const mw_hwx *hwx)
{
    for (uint32_t i = 0; i < 16; i++) {
        CHECK_INT(value(hwx, 0x1548 + i), 0x21);
        CHECK_INT(value(hwx, 0x1568 + i), 16 * 256 * 8 * 2);
        CHECK(i == 0 || value(hwx, 0x1558 + i) == i * 16 * 256 * 8 * 2);
    }
    CHECK_INT(value(hwx, 0x1348), 32 * 2);
    CHECK_INT(value(hwx, 0x1349), 16 * 32 * 2);
    CHECK_INT(value(hwx, 0x1245), 0x3c00);
}

static void test_the_published_task(void)
{
    uint32_t words[WORDS];
    char operation[96];
    mw_error err = {0};
    const size_t count = read_words(words);
    if (count == 0)
        SKIP("td_1x8_h18g.words is not in %s", FOLDER);
    CHECK_INT(count, 104); /* the chain's four, and 100 of 104 */
    mw_hwx *hwx = mw_hwx_parse_words(words, count, 24, NULL, &err);
    REQUIRE(CHECK_OK(err) && CHECK(mw_hwx_task_at(hwx, 0) != NULL));
    const mw__hwx_task *task = mw__hwx_task_at(hwx, 0);
    CHECK(mw_hwx_task_at(hwx, 1) == NULL);
    CHECK_INT(task->missing, 4);
    CHECK_INT(task->recorded, 99); /* the last packet, of source 1's address, is cut behind its first word */
    CHECK_INT(words[4 + task->recorded] & 0x7FFF, 0x1346);
    CHECK_INT(task->public.flags, 0x50001);
    const mw__hwx_record *last = &task->records[task->public.record_count - 1];
    CHECK(last->head.kind == MW__PACKET_ADDRESS && last->head.address == 0x1544 && last->head.bar == 4);
    CHECK_INT(mw__packet_read(words[103], false).bar, 28);
    check_fields(hwx);
    check_sizes(hwx);
    mw__hwx_operation(hwx, 0, operation);
    CHECK_STR(operation, "conv 1x8 of 256 to 256 channels, relu");
    mw_hwx_destroy(hwx);
}

/* Each field of a row beside the word's. */
static void check_row(char *line)
{
    static const char *const names[FIELDS] = {NULL,       NULL,       NULL,      "kernel_w", "kernel_h", "stride_w",
                                              "stride_h", "pad_left", "pad_top", "offset_w", "offset_h"};
    const char *fields[FIELDS];
    char *at = line;
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = at;
        at += strcspn(at, "\t\n");
        if (*at != '\0')
            *at++ = '\0';
    }
    const uint32_t word = (uint32_t)strtoul(fields[1], NULL, 16);
    for (int i = 3; i < FIELDS; i++) {
        const mw__packet_bits *bits = mw__packet_bits_named(names[i]);
        REQUIRE(bits != NULL && bits->address == 0x0a);
        check_note(mw__packet_bits_of(bits, word) == strtoul(fields[i], NULL, 10), __FILE__, __LINE__,
                   "%s: %s of 0x%08x is %u, not %s", fields[0], names[i], word, mw__packet_bits_of(bits, word),
                   fields[i]);
    }
}

static void test_the_published_kernels(void)
{
    char line[LINE];
    int rows = 0;
    FILE *file = fopen(FOLDER "conv_config_words_h18g.tsv", "r");
    if (file == NULL)
        SKIP("conv_config_words_h18g.tsv is not in %s", FOLDER);
    CHECK(fgets(line, sizeof line, file) != NULL);
    for (; fgets(line, sizeof line, file) != NULL; rows++)
        check_row(line);
    fclose(file);
    CHECK_INT(rows, 19);
}

int main(void)
{
    RUN(test_the_published_task);
    RUN(test_the_published_kernels);
    return check_finish();
}
