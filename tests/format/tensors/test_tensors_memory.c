/* What a file of tensors can make a reader allocate, at most: pickles whose every byte makes as much as can be, held to
 * the bound that docs/tensors.md names. */
#include "format/tensors/pickle.h"
#include "format/tensors/tensors.h"
#include "format/zip_write.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a pickle: a little more than a power of two, where what doubles has just doubled. Of docs/tensors.md: bytes
 * for each, and in any case. */
enum { SIZE = (1 << 20) + 64, BYTES_PER = 160, BYTES_ANY = 1 << 20 };

/* ---- pickles ---- */

typedef struct pickle {
    char bytes[SIZE + 4096];
    size_t size;
} pickle;

static pickle made;

static void begin(void)
{
    made.size = 0;
    memcpy(made.bytes, "\x80\2", 2);
    made.size = 2;
}

static void put(const char *bytes, size_t size)
{
    memcpy(made.bytes + made.size, bytes, size);
    made.size += size;
}

#define PUT(text) put(text, sizeof text - 1)

static void repeat(const char *unit, size_t unit_size, size_t until)
{
    while (made.size + unit_size <= until)
        put(unit, unit_size);
}

/* A tensor of one element, in the memo at 0. */
static void put_tensor(void)
{
    PUT("ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0aX\3\0\0\0cpuK\1tQ"
        "K\0K\1\x85K\1\x85\x89}tRq\0");
}

static const char *write_archive(void)
{
    mw__file_writer file;
    mw__zip_writer zip;
    mw_error err = {0};
    const mw__zip_part text[2] = {{made.bytes, made.size}, {"", 0}}, storage[2] = {{"\0\0\0\0", 4}, {"", 0}};
    mw__file_writer_begin(&file, mw__allocator_default(), "memory.pt", true, &err);
    mw__zip_writer_init(&zip, mw__allocator_default(), &file);
    mw__zip_writer_add(&zip, "x/data.pkl", text, &err);
    mw__zip_writer_add(&zip, "x/data/a", storage, &err);
    mw__zip_writer_finish(&zip, &err);
    mw__zip_writer_deinit(&zip);
    mw__file_writer_commit(&file, &err);
    mw__file_writer_deinit(&file);
    CHECK_OK(err);
    return "memory.pt";
}

/* The most that is held while it is opened, for each byte of the pickle. */
static double taken(const char *what, size_t *out_tensors)
{
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_error err = {0};
    mw_tensors *tensors = mw__tensors_open(&allocator, write_archive(), &err);
    *out_tensors = mw_tensors_get_info(tensors).count;
    mw_tensors_destroy(tensors);
    CHECK_INT(m.held, 0);
    const double each = (double)m.most / (double)made.size;
    printf("       %s: %.0f bytes for each, %zu tensors\n", what, each, *out_tensors);
    return m.most <= BYTES_PER * made.size + BYTES_ANY ? each : INFINITY;
}

static void test_opcodes_that_make_much_of_one_byte(void)
{
    static const struct {
        const char *what, *before, *unit, *after;
        size_t unit_size;
    } rows[] = {
        {"dicts", "", "}", ".", 1},
        {"a tuple of dicts", "(", "}", "t.", 1},
        {"a list of dicts", "](", "}", "e.", 1},
        {"tuples of one", "}", "\x85", ".", 1},
        {"dicts in the memo", "", "}\x94", ".", 2},
        {"the memo", "}", "\x94", ".", 1},
        {"marks", "", "(", ".", 1},
        {"tuples in tuples", "(", "(t", "t.", 2},
        {"empty strings", "(", "\x8c\0", "t.", 2},
        {"calls", "ccollections\nOrderedDict\n\x94(", "h\0)R", "t.", 4},
        {"persistent", "}", "Q", ".", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t tensors;
        begin();
        put(rows[i].before, strlen(rows[i].before));
        repeat(rows[i].unit, rows[i].unit_size, SIZE);
        put(rows[i].after, strlen(rows[i].after));
        CHECK(taken(rows[i].what, &tensors) <= MW__PICKLE_BYTES_PER);
    }
}

/* Dicts that are met again and again, so that a tensor costs a byte or two; with names as long as they may be. */
static void test_tensors_that_are_shared(void)
{
    static char key[1000];
    memset(key, 'k', sizeof key);
    for (int turn = 0; turn < 4; turn++) {
        size_t tensors;
        begin();
        PUT("(");
        put_tensor();
        PUT("](");
        repeat("h\0", 2, turn < 2 ? SIZE / 2 : 500);
        PUT("eq\1}(");
        if (turn % 2 == 0) {
            PUT("X\1\0\0\0a");
        } else {
            PUT("X\xd4\3\0\0"); /* 980 */
            put(key, 980);
        }
        PUT("h\1");
        if (turn < 2)
            PUT("X\1\0\0\0bh\1");
        PUT("ut.");
        const double each = taken(turn % 2 == 0 ? "short names" : "long names", &tensors);
        check_note(turn < 2 ? tensors == 0 && each <= BYTES_PER : tensors > 300, __FILE__, __LINE__,
                   "turn %d: %zu tensors", turn, tensors);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_opcodes_that_make_much_of_one_byte);
    RUN(test_tensors_that_are_shared);
    folder_leave(folder);
    return check_finish();
}
