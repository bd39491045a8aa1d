/* Safetensors files: what is written is read back, what strangers wrote is believed in nothing. */
#include "base/number/hash.h"
#include "format/tensors/safetensors.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdlib.h>

static const float weights[6] = {1, 2, 3, 4, 5, -6.5f};
static const uint16_t halves[3] = {0x3c00, 0x4000, 0x8000};

static mw_status write_sample(const char *path, mw_error *err)
{
    const mw__safetensors_note notes[] = {{"mw.step", "12"}, {"text", "a \"quoted\" \\ line\nand another"}};
    const mw__safetensors_item items[] = {
        {"fc1.weight", MW_F32, MW_SHAPE(2, 3), weights},
        {"b\"ias", MW_F16, MW_SHAPE(3), halves},
        {"scalar", MW_F32, {.rank = 0}, weights},
        {"empty", MW_I8, MW_SHAPE(0, 4), weights},
    };
    return mw__safetensors_write(NULL, path, notes, 2, items, 4, err);
}

static void test_safetensors_round_trip(void)
{
    const char *path = scratch("sample.safetensors");
    mw_error err = {0};
    CHECK_INT(write_sample(path, &err), MW_OK);
    CHECK_OK(err);
    mw__safetensors file;
    REQUIRE(mw__safetensors_open(&file, NULL, path, &err) == MW_OK);
    CHECK_INT(file.count, 4);
    CHECK(file.has_checksum);
    CHECK_STR(mw__safetensors_metadata(&file, "mw.step"), "12");
    CHECK_STR(mw__safetensors_metadata(&file, "text"), "a \"quoted\" \\ line\nand another");
    CHECK(mw__safetensors_metadata(&file, "absent") == NULL);
    const mw__safetensors_tensor *weight = mw__safetensors_find(&file, "fc1.weight");
    const mw__safetensors_tensor *bias = mw__safetensors_find(&file, "b\"ias");
    REQUIRE(weight != NULL && bias != NULL);
    CHECK(mw__safetensors_find(&file, "absent") == NULL);
    CHECK(weight->dtype == MW_F32 && mw_shape_equal(weight->shape, MW_SHAPE(2, 3)));
    float got[6] = {0};
    CHECK_INT(mw__safetensors_read(&file, weight, got, &err), MW_OK);
    CHECK(memcmp(got, weights, sizeof got) == 0);
    uint16_t got_halves[3] = {0};
    void *out[4] = {NULL, NULL, NULL, NULL};
    out[bias - file.tensors] = got_halves;
    CHECK_INT(mw__safetensors_read_all(&file, out, &err), MW_OK);
    CHECK(memcmp(got_halves, halves, sizeof halves) == 0);
    CHECK_INT(file.data_start % 8, 0);
    mw__safetensors_close(&file);
    CHECK_OK(err);
}

/* The layout byte for byte: what other tools read. */
static void test_safetensors_writes_the_format(void)
{
    const char *path = scratch("small.safetensors");
    const mw__safetensors_item item = {"w", MW_F32, MW_SHAPE(2), weights};
    mw_error err = {0};
    REQUIRE(mw__safetensors_write(NULL, path, NULL, 0, &item, 1, &err) == MW_OK);
    size_t size = 0;
    unsigned char *bytes = get_file(path, &size);
    REQUIRE(bytes != NULL && size > 8);
    const size_t header = bytes[0] + 256u * bytes[1];
    CHECK_INT(size, 8 + header + 8);
    for (int i = 2; i < 8; i++)
        CHECK_INT(bytes[i], 0);
    char expected[200] = "{\"__metadata__\":{\"mw.checksum\":\"0000000000000000\"},"
                         "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    while (strlen(expected) % 8 != 0)
        strcat(expected, " ");
    CHECK_INT(header, strlen(expected));
    CHECK(memcmp(bytes + 8 + header, weights, 8) == 0);
    char digits[17] = "";
    memcpy(digits, bytes + 8 + 32, 16);
    memset(bytes + 8 + 32, '0', 16);
    CHECK(memcmp(bytes + 8, expected, header) == 0);
    char wanted[17];
    snprintf(wanted, sizeof wanted, "%016llx",
             (unsigned long long)mw__hash64(weights, 8, mw__hash64(expected, header, 0)));
    CHECK_STR(digits, wanted);
    free(bytes);
}

static mw_status read_everything(const char *path, const mw_allocator *allocator, mw_error *err)
{
    mw__safetensors file;
    MW_TRY(mw__safetensors_open(&file, allocator, path, err));
    void *out[16] = {NULL};
    mw_status status = MW_OK;
    if (file.count <= 16)
        status = mw__safetensors_read_all(&file, out, err);
    mw__safetensors_close(&file);
    return status;
}

static void test_safetensors_rejects_every_truncation(void)
{
    mw_error err = {0};
    write_sample(scratch("sample.safetensors"), &err);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("sample.safetensors"), &size);
    REQUIRE(bytes != NULL);
    for (size_t cut = 0; cut < size; cut++) {
        mw_error refused = {0};
        put_file(scratch("cut"), bytes, cut);
        CHECK_INT(read_everything(scratch("cut"), NULL, &refused), MW_ERROR_FORMAT);
        CHECK(refused.message[0] != '\0');
    }
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    put_file(scratch("cut"), bytes, size + 1);
    CHECK_INT(read_everything(scratch("cut"), NULL, &err), MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "behind the last tensor");
    free(bytes);
}

static void test_safetensors_finds_every_flipped_bit(void)
{
    mw_error err = {0};
    write_sample(scratch("sample.safetensors"), &err);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("sample.safetensors"), &size);
    REQUIRE(bytes != NULL);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_file(scratch("flipped"), bytes, size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        mw__safetensors file;
        mw_error refused = {0};
        if (mw__safetensors_open(&file, NULL, scratch("flipped"), &refused) != MW_OK) {
            CHECK_INT(refused.status, MW_ERROR_FORMAT);
            continue;
        }
        /* A flip in the name of the checksum is the one that the caller must notice: has_checksum is false. */
        void *out[4] = {NULL};
        const bool has_checksum = file.has_checksum;
        const mw_status status = mw__safetensors_read_all(&file, out, &refused);
        check_note(status == MW_ERROR_FORMAT || !has_checksum, __FILE__, __LINE__, "bit %zu of byte %zu passed",
                   bit % 8, bit / 8);
        if (!has_checksum)
            CHECK(bit / 8 >= 8 && bit / 8 < 8 + 40);
        mw__safetensors_close(&file);
    }
    free(bytes);
}

/* A file with this header and `data_size` zero bytes. */
static mw_status read_header(const char *header, size_t data_size, mw_error *err)
{
    unsigned char bytes[4096] = {0};
    const size_t length = strlen(header);
    bytes[0] = (unsigned char)length;
    bytes[1] = (unsigned char)(length >> 8);
    memcpy(bytes + 8, header, length);
    put_file(scratch("header"), bytes, 8 + length + data_size);
    return read_everything(scratch("header"), NULL, err);
}

#define T(name, dtype, shape, offsets)                                                                                 \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void test_safetensors_accepts_what_the_format_allows(void)
{
    static const struct {
        const char *header;
        size_t size;
    } good[] = {
        {"{}", 0},
        {"{\"__metadata__\":{}}", 0},
        {"{" T("a", "F32", "[2]", "[4,12]") "," T("b", "F32", "[]", "[0,4]") "}    ", 12},
        {"{" T("a", "F64", "[1]", "[0,8]") ",\"__metadata__\":{\"format\":\"pt\"}}", 8},
        {"{" T("a", "BF16", "[1]", "[0,2]") "," T("b", "BOOL", "[1]", "[2,3]") "," T("c", "U8", "[1]", "[3,4]") "}", 4},
        {"{" T("a", "I16", "[1]", "[0,2]") "," T("b", "U16", "[1]", "[2,4]") "," T("c", "I32", "[1]", "[4,8]") "}", 8},
        {"{" T("a", "U32", "[1]", "[0,4]") "," T("b", "I64", "[1]", "[4,12]") "," T("c", "U64", "[0]", "[12,12]") "}",
         12},
        {"{\"a\":{\"data_offsets\":[0,1],\"shape\":[1,1,1,1,1,1,1,1],\"dtype\":\"I8\"}}", 1},
        {"{" T("a", "F32", "[0]", "[0,0]") "," T("b", "F32", "[1]", "[0,4]") "}", 4},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        mw_error err = {0};
        CHECK_INT(read_header(good[i].header, good[i].size, &err), MW_OK);
        CHECK_OK(err);
    }
}

static void test_safetensors_rejects_hostile_headers(void)
{
    static const struct {
        const char *header;
        size_t size;
        const char *part;
    } bad[] = {
        {"", 0, "begin with '{'"},
        {" {}", 0, "begin with '{'"},
        {"[]", 0, "begin with '{'"},
        {"{\"a\":1}", 0, "number where none"},
        {"{\"a\":\"x\"}", 0, "string where none"},
        {"{\"a\":[1]}", 0, "array where none"},
        {"{\"a\":{}}", 0, "missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "missing"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "missing"},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "missing"},
        {"{" T("a", "F32", "[1]", "[0]") "}", 4, "incomplete"},
        {"{" T("a", "F32", "[1]", "[0,4,8]") "}", 4, "more than two"},
        {"{" T("a", "F32", "[1]", "[0,3]") "}", 3, "do not agree"},
        {"{" T("a", "F32", "[1]", "[4,0]") "}", 4, "do not agree"},
        {"{" T("a", "F32", "[1]", "[0,4]") "}", 3, "missing end"},
        {"{" T("a", "F32", "[1]", "[0,4]") "}", 5, "1 bytes behind"},
        {"{" T("a", "F32", "[1]", "[1,5]") "}", 5, "hole"},
        {"{" T("a", "F32", "[1]", "[0,4]") "," T("b", "F32", "[1]", "[0,4]") "}", 4, "overlap"},
        {"{" T("a", "F32", "[1]", "[0,4]") "," T("b", "F32", "[1]", "[3,7]") "}", 7, "overlap"},
        {"{" T("a", "F32", "[1]", "[0,4]") "," T("b", "F32", "[1]", "[5,9]") "}", 9, "hole"},
        {"{" T("a", "F32", "[1]", "[0,4]") "," T("a", "F32", "[1]", "[4,8]") "}", 8, "twice"},
        {"{" T("a", "F33", "[1]", "[0,4]") "}", 4, "its dtype is none of"},
        {"{" T("a", "f32", "[1]", "[0,4]") "}", 4, "its dtype is none of"},
        {"{" T("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, "rank"},
        {"{" T("a", "F32", "[-1]", "[0,4]") "}", 4, "negative"},
        {"{" T("a", "F32", "[1.0]", "[0,4]") "}", 4, "fraction"},
        {"{" T("a", "F32", "[[1]]", "[0,4]") "}", 4, "array where none"},
        {"{" T("a", "F32", "[\"1\"]", "[0,4]") "}", 4, "string where none"},
        {"{" T("a", "F32", "1", "[0,4]") "}", 4, "number where none"},
        {"{" T("a", "U8", "[9223372036854775808]", "[0,4]") "}", 4, "extent"},
        {"{" T("a", "U8", "[18446744073709551616]", "[0,4]") "}", 4, "2^64"},
        {"{" T("a", "U8", "[4294967296,4294967296]", "[0,0]") "}", 0, "overflows"},
        {"{" T("a", "F32", "[4611686018427387904]", "[0,0]") "}", 0, "overflows"},
        {"{" T("a", "F32", "[1]", "[18446744073709551612,18446744073709551615]") "}", 4, "do not agree"},
        {"{" T("a", "F32", "[1]", "[18446744073709551611,18446744073709551615]") "}", 4, "hole"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", 4, "other than dtype"},
        {"{\"a\":{\"dtype\":{},\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "object inside"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "number where none"},
        {"{\"__metadata__\":{\"a\":[]}}", 0, "array where none"},
        {"{\"__metadata__\":{\"a\":{}}}", 0, "object inside"},
        {"{\"__metadata__\":\"a\"}", 0, "string where none"},
        {"{\"__metadata__\":{\"mw.checksum\":\"0123456789abcdeF\"}}", 0, "checksum"},
        {"{\"__metadata__\":{\"mw.checksum\":\"0123\"}}", 0, "checksum"},
        {"{\"__metadata__\":{\"a\":\"b\",\"mw.checksum\":\"0123456789abcdef\"}}", 0, "checksum"},
        {"{\"__metadata__\":{\"mw.checksum\":\"0123456789abcdef\"}}", 0, "damaged"},
        {"{" T("", "F32", "[1]", "[0,4]") "}", 4, "empty"},
        {"{" T("a\\u001b[2J", "F32", "[1]", "[0,4]") "}", 4, "control"},
        {"{} {}", 0, "text after"},
        {"{\"a\":{\"a\":{\"a\":{", 0, "other than dtype"},
        {"{" T("\xff", "F32", "[1]", "[0,4]") "}", 4, "UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mw_error err = {0};
        CHECK_INT(read_header(bad[i].header, bad[i].size, &err), MW_ERROR_FORMAT);
        CHECK_CONTAINS(err.message, bad[i].part);
        CHECK_CONTAINS(err.message, "header\""); /* names the file */
    }
}

static void test_safetensors_rejects_huge_header_lengths(void)
{
    static const unsigned char lengths[][8] = {
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0, 0, 0, 0, 0x80}, {3}, {0x01, 0xe1, 0xf5, 0x05}};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        unsigned char bytes[10];
        memcpy(bytes, lengths[i], 8);
        memcpy(bytes + 8, "{}", 2);
        put_file(scratch("length"), bytes, sizeof bytes);
        mw_error err = {0};
        CHECK_INT(read_everything(scratch("length"), NULL, &err), MW_ERROR_FORMAT);
        CHECK_CONTAINS(err.message, "cut off, or no safetensors file");
    }
    mw_error err = {0};
    CHECK_INT(read_everything(scratch("not there"), NULL, &err), MW_ERROR_FILE);
    err = (mw_error){0};
    CHECK_INT(read_everything(scratch("."), NULL, &err), MW_ERROR_FILE);
}

static void test_safetensors_refuses_to_write_what_it_could_not_read(void)
{
    static const struct {
        const char *name;
        mw_dtype dtype;
        mw_status status;
    } bad[] = {
        {"\xff\xfe", MW_F32, MW_ERROR_ARGUMENT},
        {"", MW_F32, MW_ERROR_ARGUMENT},
        {"a\nb", MW_F32, MW_ERROR_ARGUMENT},
        {"__metadata__", MW_F32, MW_ERROR_ARGUMENT},
        {"a", MW_U4, MW_ERROR_DTYPE},
    };
    const int before = scratch_count();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const mw__safetensors_item item = {bad[i].name, bad[i].dtype, MW_SHAPE(2), weights};
        mw_error err = {0};
        CHECK_INT(mw__safetensors_write(NULL, scratch("refused"), NULL, 0, &item, 1, &err), bad[i].status);
        CHECK(!file_exists(scratch("refused")));
    }
    const mw__safetensors_item twice[2] = {{"a", MW_F32, MW_SHAPE(2), weights}, {"a", MW_F32, MW_SHAPE(2), weights}};
    mw_error err = {0};
    CHECK_INT(mw__safetensors_write(NULL, scratch("refused"), NULL, 0, twice, 2, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "twice");
    CHECK_INT(scratch_count(), before);
}

static void test_safetensors_checks_pieces_of_large_tensors(void)
{
    const size_t count = MW__SAFETENSORS_PIECE / 4 * 2 + 5; /* two pieces and a bit */
    float *data = calloc(count, sizeof *data);
    REQUIRE(data != NULL);
    for (size_t i = 0; i < count; i++)
        data[i] = (float)i;
    const mw__safetensors_item item = {"large", MW_F32, MW_SHAPE((int64_t)count), data};
    mw_error err = {0};
    const char *path = scratch("large");
    CHECK_INT(mw__safetensors_write(NULL, path, NULL, 0, &item, 1, &err), MW_OK);
    CHECK_INT(read_everything(path, NULL, &err), MW_OK);
    size_t size = 0;
    unsigned char *bytes = get_file(path, &size);
    REQUIRE(bytes != NULL);
    const size_t places[] = {size - 1, size - 30, size - MW__SAFETENSORS_PIECE, size - 4 * count};
    for (size_t i = 0; i < 4; i++) {
        bytes[places[i]] ^= 4;
        put_file(path, bytes, size);
        bytes[places[i]] ^= 4;
        mw_error refused = {0};
        CHECK_INT(read_everything(path, NULL, &refused), MW_ERROR_FORMAT);
        CHECK_CONTAINS(refused.message, "damaged");
    }
    free(bytes);
    free(data);
}

static void test_safetensors_survives_failing_allocations(void)
{
    mw_error first = {0};
    write_sample(scratch("sample.safetensors"), &first);
    bool finished = false;
    for (long n = 0; !finished && n < 300; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        const mw__safetensors_item item = {"w", MW_F32, MW_SHAPE(2), weights};
        mw_status status = read_everything(scratch("sample.safetensors"), &allocator, &err);
        if (status == MW_OK)
            status = mw__safetensors_write(&allocator, scratch("again"), NULL, 0, &item, 1, &err);
        finished = !failing.failed;
        CHECK_INT(status, finished ? MW_OK : MW_ERROR_MEMORY);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    RUN(test_safetensors_round_trip);
    RUN(test_safetensors_writes_the_format);
    RUN(test_safetensors_rejects_every_truncation);
    RUN(test_safetensors_finds_every_flipped_bit);
    RUN(test_safetensors_accepts_what_the_format_allows);
    RUN(test_safetensors_rejects_hostile_headers);
    RUN(test_safetensors_rejects_huge_header_lengths);
    RUN(test_safetensors_refuses_to_write_what_it_could_not_read);
    RUN(test_safetensors_checks_pieces_of_large_tensors);
    RUN(test_safetensors_survives_failing_allocations);
    return check_finish();
}
