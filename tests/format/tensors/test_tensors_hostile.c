/* Files of tensors as no tool writes them: cut off at every byte, with every byte changed, with every allocation
 * failing, and archives and indices made by hand to mislead. */
#include "base/number/crc32.h"
#include "format/tensors/tensors.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t slack; /* bytes of padding at the end, which nothing needs */
} files[] = {
    {"f4.npy", 0},       {"big.npy", 0},           {"fortran.npy", 0},  {"version2.npy", 0},
    {"all.npz", 0},      {"packed.npz", 0},        {"state.pt", 0},     {"checkpoint.pt", 0},
    {"protocol4.pt", 0}, {"plain.safetensors", 0}, {"blocks.gguf", 10},
};
enum { FILES = sizeof files / sizeof files[0] };

static unsigned char *content_of(const char *name, size_t *out_size)
{
    char path[600];
    char *content = NULL;
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/data/tensors/%s", MW_TESTS_DIR, name);
    mw__file_read(NULL, path, 1 << 20, &content, out_size, &err);
    CHECK_OK(err);
    return (unsigned char *)content;
}

static void put(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(name, "wb");
    CHECK(file != NULL && fwrite(data, 1, size, file) == size);
    if (file != NULL)
        fclose(file);
}

/* Reads every tensor as it is and as F64; no size may be far from that of the file. */
static void read_all(mw_tensors *tensors, size_t size)
{
    for (size_t i = 0; i < mw_tensors_get_info(tensors).count; i++) {
        const mw_tensor_info *info = mw_tensors_at(tensors, i);
        const size_t count = (size_t)mw_shape_count(info->shape);
        CHECK(info->size <= 1100 * size);
        void *out = malloc(count * 8 + 1);
        mw_error err = {0};
        if (out == NULL)
            continue;
        mw_status status = mw_tensors_read(tensors, info->name, info->dtype, out, count, &err);
        CHECK_INT(status, err.status);
        err = (mw_error){0};
        status = mw_tensors_read(tensors, info->name, MW_F64, out, count, &err);
        CHECK_INT(status, err.status);
        free(out);
    }
}

/* ---- every byte ---- */

static void test_a_file_that_is_cut_off_is_refused_at_every_byte(void)
{
    for (int f = 0; f < FILES; f++) {
        size_t size;
        unsigned char *content = content_of(files[f].name, &size);
        for (size_t cut = 0; cut + files[f].slack < size; cut++) {
            mw_error err = {0};
            put("cut", content, cut);
            mw_tensors *tensors = mw_tensors_open("cut", &err);
            check_note(tensors == NULL && err.status != MW_OK, __FILE__, __LINE__, "%s cut at %zu is read",
                       files[f].name, cut);
            mw_tensors_destroy(tensors);
        }
        mw__free(mw__allocator_default(), content);
    }
}

static void test_a_file_with_any_byte_changed_is_refused_or_read(void)
{
    static const unsigned char masks[] = {1, 0x80, 0xff};
    for (int f = 0; f < FILES; f++) {
        size_t size;
        unsigned char *content = content_of(files[f].name, &size);
        for (size_t at = 0; at < size; at++) {
            for (size_t m = 0; m < sizeof masks; m++) {
                mw_error err = {0};
                content[at] ^= masks[m];
                put("changed", content, size);
                mw_tensors *tensors = mw_tensors_open("changed", &err);
                CHECK((tensors != NULL) == (err.status == MW_OK));
                read_all(tensors, size);
                mw_tensors_destroy(tensors);
                content[at] ^= masks[m];
            }
        }
        mw__free(mw__allocator_default(), content);
    }
}

/* ---- memory ---- */

/* *out_status: the first failure. */
static void open_and_read(const mw_allocator *allocator, const char *path, mw_status *out_status)
{
    static double out[4096];
    mw_error err = {0};
    mw_tensors *tensors = mw__tensors_open(allocator, path, &err);
    CHECK((tensors != NULL) == (err.status == MW_OK));
    for (size_t i = 0; i < mw_tensors_get_info(tensors).count && err.status == MW_OK; i++) {
        const mw_tensor_info *info = mw_tensors_at(tensors, i);
        if (strcmp(info->name, "bad") != 0 && strcmp(info->name, "large") != 0)
            mw_tensors_read(tensors, info->name, MW_F64, out, (size_t)mw_shape_count(info->shape), &err);
    }
    *out_status = err.status;
    mw_tensors_destroy(tensors);
}

static void expect_memory_errors(const char *path)
{
    bool finished = false;
    for (long n = 0; !finished && n < 2000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_status status;
        open_and_read(&allocator, path, &status);
        finished = !failing.failed;
        check_note(status == (finished ? MW_OK : MW_ERROR_MEMORY), __FILE__, __LINE__,
                   "%s: status %d at allocation %ld", path, (int)status, n);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

static void test_reading_survives_failing_allocations(void)
{
    char path[600];
    for (int f = 0; f < FILES; f++) {
        mw_error err = {0};
        snprintf(path, sizeof path, "%s/data/tensors/%s", MW_TESTS_DIR, files[f].name);
        mw_tensors *tensors = mw_tensors_open(path, &err);
        if (err.status == MW_ERROR_UNSUPPORTED)
            continue; /* built without zlib */
        mw_tensors_destroy(tensors);
        expect_memory_errors(path);
    }
    snprintf(path, sizeof path, "%s/data/tensors/shards", MW_TESTS_DIR);
    expect_memory_errors(path);
}

/* ---- archives made by hand ---- */

typedef struct archive {
    unsigned char bytes[4096];
    size_t size;
    unsigned char directory[2048];
    size_t directory_size;
    int count;
} archive;

static void put_le(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

/* Fields of an entry that may lie. */
typedef struct entry {
    const char *name;
    const void *data;
    size_t packed, size;
    uint32_t crc;
    int method, flags;
} entry;

static void add_header(unsigned char *at, const entry *e)
{
    put_le(at, 20, 2);
    put_le(at + 2, (uint64_t)e->flags, 2);
    put_le(at + 4, (uint64_t)e->method, 2);
    put_le(at + 10, e->crc, 4);
    put_le(at + 14, e->packed, 4);
    put_le(at + 18, e->size, 4);
    put_le(at + 22, strlen(e->name), 2);
}

static void add_directory(archive *a, const entry *e, size_t header)
{
    unsigned char *at = a->directory + a->directory_size;
    memset(at, 0, 46);
    put_le(at, 0x02014b50, 4);
    add_header(at + 6, e);
    put_le(at + 42, header, 4);
    memcpy(at + 46, e->name, strlen(e->name));
    a->directory_size += 46 + strlen(e->name);
    a->count++;
}

static size_t add_local(archive *a, const entry *e)
{
    const size_t start = a->size;
    unsigned char *at = a->bytes + start;
    memset(at, 0, 30);
    put_le(at, 0x04034b50, 4);
    add_header(at + 4, e);
    memcpy(at + 30, e->name, strlen(e->name));
    memcpy(at + 30 + strlen(e->name), e->data, e->packed < 512 ? e->packed : 512);
    a->size += 30 + strlen(e->name) + (e->packed < 512 ? e->packed : 512);
    return start;
}

static void add(archive *a, const entry *e) { add_directory(a, e, add_local(a, e)); }

static void finish(archive *a)
{
    const size_t start = a->size;
    memcpy(a->bytes + start, a->directory, a->directory_size);
    unsigned char *at = a->bytes + start + a->directory_size;
    memset(at, 0, 22);
    put_le(at, 0x06054b50, 4);
    put_le(at + 8, (uint64_t)a->count, 2);
    put_le(at + 10, (uint64_t)a->count, 2);
    put_le(at + 12, a->directory_size, 4);
    put_le(at + 16, start, 4);
    a->size += a->directory_size + 22;
    put("archive.npz", a->bytes, a->size);
}

static void expect_archive(archive *a, mw_status status, const char *part)
{
    mw_error err = {0};
    finish(a);
    mw_tensors *tensors = mw_tensors_open("archive.npz", &err);
    CHECK(tensors == NULL);
    CHECK_ERROR(err, status, part);
    mw_tensors_destroy(tensors);
}

/* A .npy of one u1 of value 7, and its checksum (zlib.crc32). */
static const char npy[256] = "\x93NUMPY\1\0\x3b\0{'descr': '|u1', 'fortran_order': False, 'shape': (1,), } \n\7";
enum { NPY_SIZE = 70 };

static entry good_entry(const char *name)
{
    mw__crc32_table table;
    mw__crc32_init(&table);
    return (entry){.name = name,
                   .data = npy,
                   .packed = NPY_SIZE,
                   .size = NPY_SIZE,
                   .crc = mw__crc32_add(&table, 0, npy, NPY_SIZE)};
}

static void test_an_archive_made_by_hand_is_read(void)
{
    archive a = {0};
    const entry e = good_entry("a.npy"), f = good_entry("b.npy");
    mw_error err = {0};
    uint8_t value = 0;
    add(&a, &e);
    add(&a, &f);
    finish(&a);
    mw_tensors *tensors = mw_tensors_open("archive.npz", &err);
    mw_tensors_read(tensors, "b", MW_U8, &value, 1, &err);
    CHECK_OK(err);
    CHECK_INT(value, 7);
    mw_tensors_destroy(tensors);
}

static void test_names_that_lead_out_of_an_archive_are_refused(void)
{
    static const char *const names[] = {"../a.npy", "/a.npy",  "x/../../a.npy", "x\\a.npy",
                                        "c:a.npy",  "./a.npy", "x/.."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        archive a = {0};
        const entry e = good_entry(names[i]);
        add(&a, &e);
        expect_archive(&a, MW_ERROR_FORMAT, "leads out of the archive");
    }
    archive a = {0};
    const entry e = good_entry("a\n.npy");
    add(&a, &e);
    expect_archive(&a, MW_ERROR_FORMAT, "control character");
}

static void test_entries_that_overlap_or_are_doubled_are_refused(void)
{
    const entry e = good_entry("a.npy"), f = good_entry("b.npy");
    archive doubled = {0};
    add(&doubled, &e);
    add(&doubled, &e);
    expect_archive(&doubled, MW_ERROR_FORMAT, "there twice");
    archive nested = {0}; /* b lies within the data of a */
    entry outer = e;
    outer.packed = outer.size = 2 * NPY_SIZE;
    const size_t start = add_local(&nested, &outer);
    nested.size -= 2 * NPY_SIZE;
    const size_t inside = add_local(&nested, &f);
    nested.size += NPY_SIZE;
    add_directory(&nested, &outer, start);
    add_directory(&nested, &f, inside);
    expect_archive(&nested, MW_ERROR_FORMAT, "overlaps");
}

static void test_entries_that_lie_are_refused(void)
{
    archive a = {0};
    entry e = good_entry("a.npy");
    e.flags = 1;
    add(&a, &e);
    expect_archive(&a, MW_ERROR_UNSUPPORTED, "encrypted");
    a = (archive){0};
    e.flags = 0;
    e.method = 14;
    add(&a, &e);
    expect_archive(&a, MW_ERROR_UNSUPPORTED, "compression method 14");
    a = (archive){0};
    e.method = 0;
    e.size++;
    add(&a, &e);
    expect_archive(&a, MW_ERROR_FORMAT, "its two sizes differ");
    a = (archive){0};
    e = good_entry("a.npy");
    const size_t start = add_local(&a, &e);
    e.crc++;
    add_directory(&a, &e, start);
    expect_archive(&a, MW_ERROR_FORMAT, "its local header and the directory differ");
    a = (archive){0};
    e = good_entry("a.txt");
    add(&a, &e);
    expect_archive(&a, MW_ERROR_FORMAT, "neither .npz nor PyTorch's: its entry \"a.txt\"");
}

static void test_a_wrong_checksum_is_refused_when_the_tensor_is_read(void)
{
    archive a = {0};
    entry e = good_entry("a.npy");
    uint8_t value;
    mw_error err = {0};
    e.crc++;
    add(&a, &e);
    finish(&a);
    mw_tensors *tensors = mw_tensors_open("archive.npz", &err);
    mw_tensors_read(tensors, "a", MW_U8, &value, 1, &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "its checksum differs");
    mw_tensors_destroy(tensors);
}

static void test_a_bomb_is_refused_before_it_unpacks(void)
{
    archive a = {0};
    entry e = good_entry("a.npy");
    e.method = 8;
    e.size = 0xfffffff0;
    add(&a, &e);
    expect_archive(&a, MW_ERROR_FORMAT, "would unpack from 70 to 4294967280 bytes, more than 128 times as many");
}

/* ---- indices ---- */

static void expect_index(const char *text, mw_status status, const char *part)
{
    mw_error err = {0};
    put("model.safetensors.index.json", text, strlen(text));
    mw_tensors *tensors = mw_tensors_open(".", &err);
    CHECK(tensors == NULL);
    CHECK_ERROR(err, status, part);
    mw_tensors_destroy(tensors);
}

static void test_an_index_reaches_nothing_outside_its_folder(void)
{
    static const char empty[] = "\x02\0\0\0\0\0\0\0{}";
    put("outside", empty, 10);
    CHECK(symlink("/etc/passwd", "link") == 0);
    expect_index("{\"weight_map\":{\"a\":\"../outside\"}}", MW_ERROR_FILE, "..");
    expect_index("{\"weight_map\":{\"a\":\"/etc/passwd\"}}", MW_ERROR_FILE, "/etc/passwd");
    expect_index("{\"weight_map\":{\"a\":\"link\"}}", MW_ERROR_FILE, "link");
    expect_index("{\"weight_map\":{\"a\":\"outside\"}}", MW_ERROR_FORMAT, "names 1 tensors, but its files have 0");
}

static void copy_shard(const char *name)
{
    char path[64];
    size_t size;
    snprintf(path, sizeof path, "shards/%s", name);
    unsigned char *content = content_of(path, &size);
    snprintf(path, sizeof path, "cut_shards/%s", name);
    put(path, content, size);
    mw__free(mw__allocator_default(), content);
}

/* The file as it is in the recorded shards, and shorter by every number of bytes; it is whole again at the end. */
static void expect_cuts(const char *name)
{
    char from[64], to[64];
    size_t size;
    snprintf(from, sizeof from, "shards/%s", name);
    snprintf(to, sizeof to, "cut_shards/%s", name);
    unsigned char *content = content_of(from, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        mw_error err = {0};
        put(to, content, cut);
        mw_tensors *tensors = mw_tensors_open("cut_shards/model.safetensors.index.json", &err);
        check_note((tensors == NULL) == (cut < size), __FILE__, __LINE__, "%s cut at %zu: %s", name, cut, err.message);
        mw_tensors_destroy(tensors);
    }
    mw__free(mw__allocator_default(), content);
}

static void test_shards_and_their_index_are_refused_cut_at_every_byte(void)
{
    static const char *const names[] = {"model.safetensors.index.json", "model-00001-of-00002.safetensors",
                                        "model-00002-of-00002.safetensors"};
    CHECK(mkdir("cut_shards", 0700) == 0);
    for (int i = 0; i < 3; i++)
        copy_shard(names[i]);
    for (int i = 0; i < 3; i++)
        expect_cuts(names[i]);
}

static void test_an_index_that_is_none_is_refused(void)
{
    expect_index("{\"weight_map\":{}}", MW_ERROR_FORMAT, "no weight_map with a tensor");
    expect_index("{\"weight_map\":\"x\"}", MW_ERROR_FORMAT, "no weight_map with a tensor");
    expect_index("{}", MW_ERROR_FORMAT, "no weight_map with a tensor");
    expect_index("{\"weight_map\":{\"a\":1}}", MW_ERROR_FORMAT, "what is no name of a file");
    expect_index("{\"weight_map\":{\"a\":[\"x\"]}}", MW_ERROR_FORMAT, "what is no name of a file");
    expect_index("{\"weight_map\":{\"a\":{\"b\":\"x\"}}}", MW_ERROR_FORMAT, "what is no name of a file");
    expect_index("{\"weight_map\":{\"\":\"x\"}}", MW_ERROR_FORMAT, "empty");
    expect_index("{\"weight_map\":{\"a\":\"x\"", MW_ERROR_FORMAT, "model.safetensors.index.json");
}

/* ---- pickles ---- */

/* An archive x/data.pkl with these opcodes. */
static void expect_pickle(const char *text, size_t size, mw_status status, const char *part)
{
    mw__crc32_table table;
    mw__crc32_init(&table);
    archive a = {0};
    const entry e = {
        .name = "x/data.pkl", .data = text, .packed = size, .size = size, .crc = mw__crc32_add(&table, 0, text, size)};
    add(&a, &e);
    expect_archive(&a, status, part);
}

#define EXPECT_PICKLE(text, status, part) expect_pickle(text, sizeof text - 1, status, part)

static void test_pickles_that_do_more_than_state_dicts_are_refused(void)
{
    EXPECT_PICKLE("\x80\2cos\nsystem\nX\4\0\0\0true\x85R.", MW_ERROR_UNSUPPORTED, "the global \"os system\"");
    EXPECT_PICKLE("\x80\2cbuiltins\neval\n)\x81.", MW_ERROR_UNSUPPORTED, "the global \"builtins eval\"");
    EXPECT_PICKLE("\x80\2cos\nsystem\nX\4\0\0\0true\x85R}(K\1K\2ub.", MW_ERROR_UNSUPPORTED, "the global \"os system\"");
    EXPECT_PICKLE("\x80\2cos\nsystem\n)R)R.", MW_ERROR_UNSUPPORTED, "the global \"os system\"");
    EXPECT_PICKLE("\x80\2X\1\0\0\0a)\x81.", MW_ERROR_FORMAT, "what is called is no global");
    EXPECT_PICKLE("\x80\2\x8f(K\1\x90}.", MW_ERROR_FORMAT, "does not end with one value");
    EXPECT_PICKLE("\x80\2](K\1\x90.", MW_ERROR_FORMAT, "added to what is no set");
    EXPECT_PICKLE("\x80\2(0"
                  "0.",
                  MW_ERROR_FORMAT, "more than the stack has");
    EXPECT_PICKLE("\x80\2\x8b\xff\xff\xff\xff.", MW_ERROR_FORMAT, "cut off");
    EXPECT_PICKLE("\x80\2}X\1\0\0\0ac__main__\nC\n)Rs.", MW_ERROR_UNSUPPORTED,
                  "\"a\": it is made by the global \"__main__ C\"");
    EXPECT_PICKLE("\x80\2(i__main__\nC\n.", MW_ERROR_UNSUPPORTED, "the opcode INST");
    EXPECT_PICKLE("\x80\2}}.", MW_ERROR_FORMAT, "does not end with one value");
    EXPECT_PICKLE("\x80\2K\1}b.", MW_ERROR_UNSUPPORTED, "BUILD");
    EXPECT_PICKLE("\x80\6}.", MW_ERROR_FORMAT, "protocol");
    EXPECT_PICKLE("\x80\2}.}", MW_ERROR_FORMAT, "does not end");
    EXPECT_PICKLE("\x80\2.", MW_ERROR_FORMAT, "does not end with one value");
    EXPECT_PICKLE("\x80\2h\1.", MW_ERROR_FORMAT, "the memo does not have");
    EXPECT_PICKLE("\x80\2}r\xff\xff\xff\x7f.", MW_ERROR_FORMAT, "the memo has a gap");
    EXPECT_PICKLE("\x80\2X\xff\xff\xff\xff.", MW_ERROR_FORMAT, "cut off");
    EXPECT_PICKLE("\x80\2u.", MW_ERROR_FORMAT, "wants a mark");
    EXPECT_PICKLE("\x80\2s.", MW_ERROR_FORMAT, "more than the stack has");
    EXPECT_PICKLE("\x80\2}(K\1u.", MW_ERROR_FORMAT, "a key has no value");
    EXPECT_PICKLE("\x80\2\xff.", MW_ERROR_FORMAT, "byte 0xff");
}

/* A dict in itself, lists in lists, and lists of which each has the one before it twice: 2^14 ways to the first
 * from 15. */
static void test_pickles_that_would_be_walked_for_ever_are_refused(void)
{
    char text[1024] = "\x80\2";
    EXPECT_PICKLE("\x80\2}q\0X\1\0\0\0ah\0s.", MW_ERROR_UNSUPPORTED, "shared too often");
    EXPECT_PICKLE("\x80\2]]]]]]]]]]]]]]]]]]aaaaaaaaaaaaaaaaa.", MW_ERROR_UNSUPPORTED, "more than 16 deep");
    size_t size = 2;
    for (char i = 0; i < 15; i++) {
        text[size++] = ']';
        text[size++] = 'q';
        text[size++] = i;
        if (i == 0)
            continue;
        memcpy(text + size, "(h.h.e", 6);
        text[size + 2] = text[size + 4] = (char)(i - 1);
        size += 6;
    }
    /* All but the last are below it on the stack: a tuple of them is one value. */
    memmove(text + 3, text + 2, size - 2);
    text[2] = '(';
    text[size + 1] = 't';
    text[size + 2] = '.';
    expect_pickle(text, size + 3, MW_ERROR_UNSUPPORTED, "shared too often");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_file_that_is_cut_off_is_refused_at_every_byte);
    RUN(test_a_file_with_any_byte_changed_is_refused_or_read);
    RUN(test_reading_survives_failing_allocations);
    RUN(test_an_archive_made_by_hand_is_read);
    RUN(test_names_that_lead_out_of_an_archive_are_refused);
    RUN(test_entries_that_overlap_or_are_doubled_are_refused);
    RUN(test_entries_that_lie_are_refused);
    RUN(test_a_wrong_checksum_is_refused_when_the_tensor_is_read);
    RUN(test_a_bomb_is_refused_before_it_unpacks);
    RUN(test_an_index_reaches_nothing_outside_its_folder);
    RUN(test_shards_and_their_index_are_refused_cut_at_every_byte);
    RUN(test_an_index_that_is_none_is_refused);
    RUN(test_pickles_that_do_more_than_state_dicts_are_refused);
    RUN(test_pickles_that_would_be_walked_for_ever_are_refused);
    folder_leave(folder);
    return check_finish();
}
