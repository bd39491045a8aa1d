/* Containers that lie. What the readers of other projects check, one row after the other; then every length, and bits
 * turned at random. */
#include "chip/hwx/hwx_bytes.h"
#include "chip/hwx/hwx_files.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/metered.h"

#include <millwright/graph.h>
#include <millwright/hwx.h>
#include <stdlib.h>

static hwx_made made;

typedef enum part { HEADER, TEXT_COMMAND, BINDING, PROGRAM, PORT, IDENT, NOTE, UNKNOWN, SYMTAB, TEXT, SYMBOLS } part;

static size_t place_of(part p)
{
    const size_t places[] = {0,         made.text_command, made.binding, made.program, made.port,   made.ident,
                             made.note, made.unknown,      made.symtab,  made.text,    made.symbols};
    return places[p];
}

typedef struct lie {
    const char *row; /* of the checklist */
    part part;
    size_t at;
    uint32_t value;
    const char *error; /* part of the message; NULL: it is opened, and comes back */
} lie;

static const lie lies[] = {
    {"1 magic", HEADER, 0, 0xbeeffacf, "0xbeeffacf"},
    {"1 magic of Mach-O", HEADER, 0, 0xfeedfacf, "Mach-O"},
    {"1 commands", HEADER, 16, 0x7fffffff, "load commands in"},
    {"1 one command more", HEADER, 16, 14, "load command 13 of 14"},
    {"1 size of commands", HEADER, 20, 0xfffffff0, "do not fit"},
    {"1 size of commands in the middle of one", HEADER, 20, 0x60, "load command"},
    {"1 cmdsize 0", TEXT_COMMAND, 4, 0, "not 8 to"},
    {"1 cmdsize 4", TEXT_COMMAND, 4, 4, "not 8 to"},
    {"1 cmdsize in no fours", TEXT_COMMAND, 4, 0xe6, "not 8 to"},
    {"1 cmdsize beyond all", TEXT_COMMAND, 4, 0x7fffff00, "not 8 to"},
    {"1 segment too short", TEXT_COMMAND, 4, 64, "shorter than 72"},
    {"2 sections", TEXT_COMMAND, 64, 3, "more sections than fit"},
    {"2 very many sections", TEXT_COMMAND, 64, 0x33333334, "more sections than fit"},
    {"2 segment beyond the file", TEXT_COMMAND, 48, 0x7fffffff, "ends beyond"},
    {"2 segment whose end wraps", TEXT_COMMAND, 44, 0xffffffff, "ends beyond"},
    {"2 section beyond the file", TEXT_COMMAND, 72 + 48, 0xfffffff0, "section \"__text\""},
    {"2 section whose end wraps", TEXT_COMMAND, 72 + 44, 0xffffffff, "section \"__text\""},
    {"2 section over another", TEXT_COMMAND, 72 + 80 + 48, 0x3000, "overlaps"},
    {"2 section over the header", TEXT_COMMAND, 72 + 80 + 48, 4, "overlaps"},
    {"2 relocations beyond the file", TEXT_COMMAND, 72 + 60, 0x20000000, "relocations"},
    {"2 relocations over the commands", TEXT_COMMAND, 72 + 56, 0x40, "overlaps"},
    {"3 name beyond the command", BINDING, 8, 0x28, "does not end in it"},
    {"3 name in the command's own head", BINDING, 8, 4, "does not end in it"},
    {"3 name over the address", BINDING, 8, 16, "overlaps"},
    {"3 name that is the last NUL", BINDING, 8, 0x27, NULL},
    {"3 procedure", PROGRAM, 0x83c, 0xffffffff, "does not end in it"},
    {"3 tensor", PORT, 0x20, 0x10000, "does not end in it"},
    {"3 note", NOTE, 32, 9, "beyond its end"},
    {"3 note that wraps", NOTE, 28, 0xffffffff, "beyond its end"},
    {"4 words of a state", PROGRAM, 12, 0x40000000, "more words of state"},
    {"4 too few words", PROGRAM, 12, 0x100, "fewer words of state"},
    {"4 too few words of a port", PORT, 12, 4, "fewer words of state"},
    {"4 unknown flavor", PORT, 8, 77, NULL},
    {"5 symbols beyond the file", SYMTAB, 12, 0x10000000, "symbol table"},
    {"5 names beyond the file", SYMTAB, 20, 0x7fffffff, "symbol table"},
    {"5 name behind the last NUL", SYMBOLS, 0, 0x2000, "last NUL"},
    {"5 symbols over the commands", SYMTAB, 8, 0, "overlaps"},
    {"6 first task outside", PROGRAM, 0x810, 0x30001000, "outside __text"},
    {"6 first task before", PROGRAM, 0x810, 0x2fffffff, "outside __text"},
    {"6 first task at no multiple", PROGRAM, 0x810, 0x30000010, "multiple of 0x100"},
    {"6 length of the first", PROGRAM, 0x818, 0x70000000, "do not fit"},
    {"6 length of the first, one more", PROGRAM, 0x818, 16, "longer than what is left"},
    {"6 no length", PROGRAM, 0x818, 2, "shorter than its header"},
    {"6 number of tasks", PROGRAM, 0x81c, 3, "before the count"},
    {"6 number of tasks, less", PROGRAM, 0x81c, 1, "beyond the count"},
    {"6 very many tasks", PROGRAM, 0x81c, 0xffffffff, "do not fit"},
    {"6 next length", TEXT, 4, 0x1ff0000, "beyond the section"},
    {"6 next to itself", TEXT, 0x1c, 0x80000000, "beyond the section"},
    {"6 next inside itself", TEXT, 0x1c, 0x20, "multiple of 0x100"},
    {"6 a circle", TEXT, 0x100 + 0x1c, 0x100, "beyond the count"},
    {"7 record longer than the task", TEXT, 0x28, 0xfc00c800, "longer than what is left"},
    {"7 record that ends early", TEXT, 0x28, 0x0000c800, NULL},
    {"8 unknown command", UNKNOWN, 0, 0x12345678, NULL},
    {"8 a note where text is", IDENT, 0, 0x31, "beyond its end"},
};

/* The lies that leave what is read consistent, by luck of their values: they are opened or refused, and never crash. */
static void check_lie(const lie *l)
{
    mw_error err = {0};
    hwx_make(&made, (hwx_style){4, false, true});
    hwx_put32(made.bytes + place_of(l->part) + l->at, l->value);
    mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
    check_note((hwx != NULL) == (l->error == NULL), __FILE__, __LINE__, "%s: %s", l->row, err.message);
    if (l->error != NULL)
        check_note(strstr(err.message, l->error) != NULL, __FILE__, __LINE__, "%s: \"%s\" lacks \"%s\"", l->row,
                   err.message, l->error);
    CHECK((hwx == NULL) == (err.status != MW_OK));
    mw_hwx_destroy(hwx);
}

static void test_each_row_of_the_checklist(void)
{
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        check_lie(&lies[i]);
}

static void test_name_without_an_end(void)
{
    mw_error err = {0};
    hwx_make(&made, (hwx_style){4, false, true});
    memset(made.bytes + made.binding + 0x14, 'A', 0x14);
    CHECK(mw_hwx_parse(made.bytes, made.size, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "does not end in it");
}

/* ---- all that opens can be shown and written, and its bytes come back ---- */

static void use(const uint8_t *bytes, size_t size)
{
    mw_error err = {0};
    uint8_t *exact = malloc(size > 0 ? size : 1); /* so that ASan sees what is read beyond it */
    if (size > 0)
        memcpy(exact, bytes, size);
    mw_hwx *hwx = mw_hwx_parse(exact, size, NULL, &err);
    CHECK((hwx == NULL) == (err.status != MW_OK));
    if (hwx != NULL) {
        void *out = NULL;
        size_t out_size = 0;
        mw_hwx_write_memory(hwx, &out, &out_size, &err);
        CHECK(out_size == size && memcmp(out, exact, size) == 0);
        char *json = mw_hwx_json(hwx, &err);
        CHECK_OK(err);
        mw_string_free(json);
        mw_string_free(out);
    }
    mw_hwx_destroy(hwx);
    free(exact);
}

static void test_every_length(void)
{
    hwx_make(&made, (hwx_style){4, true, true});
    const size_t used = made.constants + 0xc0;
    for (size_t size = 0; size < used; size++) {
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_parse(made.bytes, size, NULL, &err);
        check_note(hwx == NULL && err.status == MW_ERROR_FORMAT, __FILE__, __LINE__, "%zu bytes: %s", size,
                   err.message);
        mw_hwx_destroy(hwx);
    }
    use(made.bytes, made.size);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void test_bytes_turned_at_random(void)
{
    static hwx_made copy;
    uint64_t state = 88172645463325252u;
    const int rounds = getenv("MW_NIGHTLY") != NULL ? 100000 : 3000;
    for (int round = 0; round < rounds; round++) {
        hwx_make(&copy, (hwx_style){round % 4 == 3 ? 5 : 4, round % 2 == 1, true});
        const size_t flips = 1 + next_random(&state) % 4;
        for (size_t i = 0; i < flips; i++)
            copy.bytes[next_random(&state) % (copy.constants + 0xc0)] = (uint8_t)next_random(&state);
        use(copy.bytes, copy.size);
    }
}

static void test_real_files_turned_at_random(void)
{
    uint64_t state = 2463534242u;
    if (!hwx_files_present())
        SKIP("the public .hwx files are not in %s", MW_SHARED_DATA);
    for (size_t i = 0; i < HWX_FILES; i++) {
        size_t size = 0;
        uint8_t *bytes = hwx_file_read(&hwx_files[i], &size);
        for (int round = 0; bytes != NULL && round < 60; round++) {
            const size_t limit = round % 2 == 0 ? 0x1300 : 0x4600, at = next_random(&state) % limit;
            const uint8_t before = bytes[at];
            bytes[at] = (uint8_t)next_random(&state);
            if (size < 100000 || round % 10 == 0)
                use(bytes, size);
            bytes[at] = before;
        }
        for (size_t cut = 0; bytes != NULL && cut < 0x4500; cut += 97)
            use(bytes, cut);
        free(bytes);
    }
}

/* ---- .ane ---- */

static uint8_t *make_ane(size_t *out_size)
{
    mw_error err = {0};
    void *bytes = NULL;
    mw_ane_options options = mw_ane_defaults();
    options.payload_offset = 0x800;
    hwx_make(&made, (hwx_style){4, false, false});
    mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
    mw_hwx_write_ane(hwx, &options, &bytes, out_size, &err);
    CHECK_OK(err);
    mw_hwx_destroy(hwx);
    return bytes;
}

static void test_ane_that_lies(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        const char *error;
    } rows[] = {
        {0, 0x2c1, "its size is not that"},
        {0, 0xffffffc0, "its size is not that"},
        {4, 1, "its size is not that"},
        {8, 0, "longer than all"},
        {8, 66, "longer than all"},
        {8, 0x10000, "longer than all"},
        {12, 0x10000, "longer than all"},
        {12, 3, "before the count"},
        {16, 0, "its size is not that"},
        {16, 0x300, "its size is not that"},
        {20, 0x80000000, "its size is not that"},
        {24, 0, "its size is not that"},
        {28, 0xffffffff, "its size is not that"},
        {32, 29, "more ports"},
        {36, 0xffffffff, "more ports"},
        {168 + 48 * 4 + 4, 1, "beyond 64 bits"},
        {168 + 48 * 4 + 36, 0xffffffff, "beyond 64 bits"},
    };
    size_t size = 0;
    uint8_t *bytes = make_ane(&size);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        const uint32_t before = hwx_get32(bytes + rows[i].at);
        hwx_put32(bytes + rows[i].at, rows[i].value);
        CHECK(mw_hwx_parse(bytes, size, NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_FORMAT, rows[i].error);
        hwx_put32(bytes + rows[i].at, before);
    }
    for (size_t cut = 0; cut < size; cut++) {
        mw_error err = {0};
        CHECK(mw_hwx_parse(bytes, cut, NULL, &err) == NULL && err.status == MW_ERROR_FORMAT);
    }
    uint64_t state = 1234567;
    for (int round = 0; round < 2000; round++) {
        const size_t at = next_random(&state) % size;
        const uint8_t before = bytes[at];
        bytes[at] = (uint8_t)next_random(&state);
        use(bytes, size);
        bytes[at] = before;
    }
    mw_string_free((char *)bytes);
}

/* ---- memory ---- */

static void check_memory(const uint8_t *bytes, size_t size)
{
    metered_bytes m = {0};
    const mw_allocator allocator = metered_allocator(&m);
    mw_error err = {0};
    mw_hwx *hwx = mw_hwx_parse(bytes, size, &allocator, &err);
    check_note(m.most <= 16 * size + 65536, __FILE__, __LINE__, "%zu bytes of memory for %zu", m.most, size);
    char *text = mw_hwx_text(hwx, &err), *json = mw_hwx_json(hwx, &err);
    if (hwx != NULL)
        check_note(text != NULL && json != NULL && strlen(text) <= 64 * size + 65536 &&
                       strlen(json) <= 64 * size + 65536,
                   __FILE__, __LINE__, "%zu bytes are too much text", size);
    mw_string_free(text);
    mw_string_free(json);
    mw_hwx_destroy(hwx);
    CHECK_INT(m.now, 0);
}

/* Files of nothing but the smallest parts: load commands, symbols, sections, tasks. */
static void test_memory_is_a_multiple_of_the_file(void)
{
    enum { SIZE = 1 << 20 };
    uint8_t *bytes = calloc(1, SIZE);
    const uint32_t header[] = {0xbeefface, 0x80, 4, 2, (SIZE - 32) / 8, SIZE - 32, 0, 0};
    for (size_t i = 0; i < 8; i++)
        hwx_put32(bytes + 4 * i, header[i]);
    for (size_t at = 32; at < SIZE; at += 8) {
        hwx_put32(bytes + at, 0x55);
        hwx_put32(bytes + at + 4, 8);
    }
    check_memory(bytes, SIZE); /* unknown commands */
    for (size_t at = 32; at < SIZE; at += 8)
        hwx_put32(bytes + at, 0x08);
    check_memory(bytes, SIZE);
    memset(bytes + 32, 0, SIZE - 32);
    hwx_put32(bytes + 16, 1);
    hwx_put32(bytes + 32, 0x19);
    hwx_put32(bytes + 36, (SIZE - 32) & ~3u);
    hwx_put32(bytes + 32 + 64, (SIZE - 32 - 72) / 80);
    check_memory(bytes, SIZE); /* sections */
    memset(bytes + 32, 0, SIZE - 32);
    hwx_put32(bytes + 20, 24);
    const uint32_t symtab[] = {0x02, 24, 64, (SIZE - 64) / 16 - 1, SIZE - 16, 16};
    for (size_t i = 0; i < 6; i++)
        hwx_put32(bytes + 32 + 4 * i, symtab[i]);
    check_memory(bytes, SIZE); /* symbols */
    free(bytes);
    hwx_make(&made, (hwx_style){4, true, true});
    check_memory(made.bytes, made.size);
}

/* Names that all end alike are not read once for each. */
static void test_names_that_share_a_long_end(void)
{
    enum { SIZE = 1 << 20, NAMES = 1 << 15 };
    uint8_t *bytes = calloc(1, SIZE);
    mw_error err = {0};
    const uint32_t words[] = {0xbeefface, 0x80, 4, 2, 1, 24, 0, 0, 0x02, 24, 56, NAMES, SIZE / 2 + 100, SIZE / 2 - 100};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hwx_put32(bytes + 4 * i, words[i]);
    memset(bytes + SIZE / 2 + 100, 'a', SIZE / 2 - 101);
    for (uint32_t i = 0; i < NAMES; i++)
        hwx_put32(bytes + 56 + 16 * (size_t)i, i);
    CHECK(mw_hwx_parse(bytes, SIZE, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "times their string table");
    free(bytes);
}

static void test_misuse_is_an_error(void)
{
    mw_error err = {0};
    void *out;
    size_t size;
    CHECK(mw_hwx_open(NULL, &err) == NULL && err.status == MW_ERROR_ARGUMENT);
    CHECK(mw_hwx_get_info(NULL) == NULL && mw_hwx_task_at(NULL, 0) == NULL);
    mw_error_clear(&err);
    CHECK(mw_hwx_open("/nowhere/at/all.hwx", &err) == NULL && err.status == MW_ERROR_FILE);
    mw_error_clear(&err);
    CHECK(mw_hwx_text(NULL, &err) == NULL && err.status == MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    hwx_make(&made, (hwx_style){4, false, false});
    mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
    CHECK_INT(mw_hwx_write(hwx, NULL, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    mw_hwx_destroy(hwx);
    CHECK_INT(mw_hwx_write_memory(hwx, &out, &size, &err), MW_ERROR_STATE);
    CHECK(out == NULL);
}

int main(void)
{
    RUN(test_each_row_of_the_checklist);
    RUN(test_name_without_an_end);
    RUN(test_every_length);
    RUN(test_bytes_turned_at_random);
    RUN(test_real_files_turned_at_random);
    RUN(test_ane_that_lies);
    RUN(test_memory_is_a_multiple_of_the_file);
    RUN(test_names_that_share_a_long_end);
    RUN(test_misuse_is_an_error);
    return check_finish();
}
