/* Deflate streams: one that zlib of Python packed, whole, in pieces, cut off at every byte and damaged. */
#include "base/file/inflate.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <stdlib.h>
#include <string.h>

/* zlib.compressobj(9, zlib.DEFLATED, -15) of the 64 lines "line 0" .. "line 63" */
static const unsigned char packed[] = {
    0x35, 0xd1, 0xbb, 0x0d, 0x02, 0x30, 0x0c, 0x40, 0xc1, 0x9e, 0x29, 0x18, 0x01, 0xff, 0x02, 0x0c, 0x44, 0x81, 0x84,
    0xd8, 0xbf, 0x44, 0x28, 0x97, 0xea, 0x55, 0x3e, 0xd9, 0xc9, 0xe7, 0xfd, 0x7d, 0x5d, 0x6f, 0x97, 0xcf, 0x3f, 0xb1,
    0x93, 0x3b, 0xb5, 0xd3, 0x3b, 0xb3, 0xb3, 0x76, 0xee, 0x3b, 0x8f, 0x9d, 0xa7, 0xf1, 0xc3, 0x70, 0x02, 0x14, 0xa4,
    0x40, 0x05, 0x2b, 0x60, 0x41, 0x0b, 0x5c, 0xf0, 0x92, 0x97, 0x67, 0x2f, 0x5e, 0xf2, 0x92, 0x97, 0xbc, 0xe4, 0x25,
    0x2f, 0x79, 0xc9, 0x2b, 0x5e, 0xf1, 0xea, 0x1c, 0xca, 0x2b, 0x5e, 0xf1, 0x8a, 0x57, 0xbc, 0xe2, 0x15, 0xaf, 0x79,
    0xcd, 0x6b, 0x5e, 0x9f, 0x97, 0xe3, 0x35, 0xaf, 0x79, 0xcd, 0x6b, 0x5e, 0xf3, 0x86, 0x37, 0xbc, 0xe1, 0x0d, 0x6f,
    0xce, 0x57, 0xf0, 0x86, 0x37, 0xbc, 0xe1, 0x0d, 0x6f, 0xf1, 0x16, 0x6f, 0xf1, 0x56, 0x5d, 0x7e,
};
enum { BEFORE = 3, PLAIN = 502 };

static char plain[PLAIN + 1];

static void fill_plain(void)
{
    size_t at = 0;
    for (int i = 0; i < 64; i++)
        at += (size_t)snprintf(plain + at, sizeof plain - at, "line %d\n", i);
}

/* The stream behind three other bytes and before one. */
static bool put_packed(const unsigned char *bytes, mw__file *file)
{
    unsigned char all[BEFORE + sizeof packed + 1] = {0};
    memcpy(all + BEFORE, bytes, sizeof packed);
    mw_error err = {0};
    return mw__file_write(NULL, "packed", all, sizeof all, false, &err) == MW_OK &&
           mw__file_open(file, "packed", &err) == MW_OK;
}

/* Reads it all in pieces of `step` bytes; *out_whole as is_whole says. */
static mw_status unpack(const mw_allocator *allocator, const mw__file *file, uint64_t size, size_t step,
                        bool *out_whole, mw_error *err)
{
    const mw__inflate_source source = {.file = file, .path = "packed", .offset = BEFORE, .size = size};
    char out[PLAIN + 128];
    mw__inflate *stream;
    size_t filled = 0, got = step;
    mw_status status = mw__inflate_begin(&stream, allocator, &source, err);
    CHECK((stream != NULL) == (status == MW_OK));
    if (status != MW_OK)
        return status;
    while (status == MW_OK && got == step && filled + step <= sizeof out) {
        status = mw__inflate_read(stream, out + filled, step, &got, err);
        filled += got;
    }
    *out_whole = status == MW_OK && mw__inflate_is_whole(stream);
    if (status == MW_OK)
        CHECK(filled == PLAIN && memcmp(out, plain, PLAIN) == 0);
    mw__inflate_end(stream);
    return status;
}

static void test_a_stream_is_unpacked_in_pieces_of_any_size(void)
{
    mw__file file;
    REQUIRE(put_packed(packed, &file));
    for (size_t step = 1; step < 64; step++) {
        mw_error err = {0};
        bool whole = false;
        unpack(mw__allocator_default(), &file, sizeof packed, step, &whole, &err);
        CHECK_OK(err);
        CHECK(whole);
    }
    mw_error err = {0};
    bool whole = true;
    unpack(mw__allocator_default(), &file, sizeof packed + 1, 100, &whole, &err); /* a byte behind it */
    CHECK_OK(err);
    CHECK(!whole);
    mw__file_close(&file);
}

static void test_a_stream_is_refused_cut_off_at_every_byte(void)
{
    mw__file file;
    REQUIRE(put_packed(packed, &file));
    for (uint64_t size = 0; size < sizeof packed; size++) {
        mw_error err = {0};
        bool whole;
        unpack(mw__allocator_default(), &file, size, 100, &whole, &err);
        CHECK_ERROR(err, MW_ERROR_FORMAT, "\"packed\" is cut off");
    }
    mw__file_close(&file);
}

static void test_a_damaged_stream_is_refused(void)
{
    unsigned char bytes[sizeof packed];
    memcpy(bytes, packed, sizeof packed);
    bytes[0] |= 6; /* a block of the reserved type */
    mw__file file;
    mw_error err = {0};
    bool whole;
    REQUIRE(put_packed(bytes, &file));
    unpack(mw__allocator_default(), &file, sizeof packed, 100, &whole, &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "no sound deflate stream: invalid block type");
    mw__file_close(&file);
}

static void test_unpacking_survives_failing_allocations(void)
{
    mw__file file;
    bool finished = false;
    REQUIRE(put_packed(packed, &file));
    for (long n = 0; !finished && n < 50; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        bool whole = false;
        unpack(&allocator, &file, sizeof packed, 100, &whole, &err);
        finished = !failing.failed;
        CHECK_INT(err.status, finished ? MW_OK : MW_ERROR_MEMORY);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
    mw__file_close(&file);
}

static void test_without_zlib_a_stream_is_refused_with_a_sentence(void)
{
    mw__file file;
    mw_error err = {0};
    bool whole;
    REQUIRE(put_packed(packed, &file));
    unpack(mw__allocator_default(), &file, sizeof packed, 100, &whole, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "built without zlib");
    mw__file_close(&file);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    fill_plain();
    if (mw__inflate_available()) {
        RUN(test_a_stream_is_unpacked_in_pieces_of_any_size);
        RUN(test_a_stream_is_refused_cut_off_at_every_byte);
        RUN(test_a_damaged_stream_is_refused);
        RUN(test_unpacking_survives_failing_allocations);
    } else {
        RUN(test_without_zlib_a_stream_is_refused_with_a_sentence);
    }
    folder_leave(folder);
    return check_finish();
}
