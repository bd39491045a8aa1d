/* IDX files, sound and hostile. The gzip files here are made by hand from stored blocks; real compression is read from
 * Debian's Fashion-MNIST where it is installed. */
#include "data/data.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdlib.h>

enum { IMAGES = 3, ROWS = 2, COLUMNS = 4, PIXELS = IMAGES * ROWS * COLUMNS };
enum { IMAGE_BYTES = 16 + PIXELS, LABEL_BYTES = 8 + IMAGES };

static const char images_name[] = "train-images-idx3-ubyte";
static const char labels_name[] = "train-labels-idx1-ubyte";

static void put_be32(unsigned char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void fill_images(unsigned char *out, uint32_t magic, uint32_t n, uint32_t rows, uint32_t columns)
{
    put_be32(out, magic);
    put_be32(out + 4, n);
    put_be32(out + 8, rows);
    put_be32(out + 12, columns);
    for (int i = 0; i < PIXELS; i++)
        out[16 + i] = (unsigned char)(200 + i);
}

static void fill_labels(unsigned char *out, uint32_t magic, uint32_t n)
{
    put_be32(out, magic);
    put_be32(out + 4, n);
    for (int i = 0; i < IMAGES; i++)
        out[8 + i] = (unsigned char)(7 - i);
}

static void remove_all(void)
{
    remove(scratch(images_name));
    remove(scratch(labels_name));
    remove(scratch("train-images-idx3-ubyte.gz"));
    remove(scratch("train-labels-idx1-ubyte.gz"));
}

static void put_good(void)
{
    unsigned char images[IMAGE_BYTES], labels[LABEL_BYTES];
    remove_all();
    fill_images(images, 0x803, IMAGES, ROWS, COLUMNS);
    fill_labels(labels, 0x801, IMAGES);
    put_file(scratch(images_name), images, sizeof images);
    put_file(scratch(labels_name), labels, sizeof labels);
}

static mw_dataset *open_scratch(mw_error *err) { return mw_dataset_open_idx(scratch("."), "train", err); }

static void check_good(mw_dataset *dataset)
{
    REQUIRE(dataset != NULL);
    CHECK_INT(mw_dataset_examples(dataset), IMAGES);
    const mw_column *x = mw_dataset_column_at(dataset, 0), *y = mw_dataset_column_at(dataset, 1);
    CHECK_STR(x->name, "x");
    CHECK_STR(y->name, "y");
    CHECK(x->dtype == MW_U8 && y->dtype == MW_U8);
    CHECK(mw_shape_equal(x->shape, MW_SHAPE(ROWS, COLUMNS)));
    CHECK_INT(y->shape.rank, 0);
    CHECK_NEAR(x->scale, 1.0 / 255.0, 1e-9);
    CHECK(y->scale == 1.0f && x->offset == 0.0f);
    CHECK_INT(((const unsigned char *)x->data)[PIXELS - 1], 200 + PIXELS - 1);
    CHECK_INT(((const unsigned char *)y->data)[2], 5);
}

static void test_idx_reads_plain_files(void)
{
    put_good();
    mw_error err = {0};
    mw_dataset *dataset = open_scratch(&err);
    CHECK_OK(err);
    check_good(dataset);
    mw_dataset_destroy(dataset);
}

static void test_idx_without_data_names_the_files_and_their_source(void)
{
    remove_all();
    mw_error err = {0};
    CHECK(open_scratch(&err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "dataset-fashion-mnist");
    CHECK(strstr(err.message, "./run") == NULL); /* who installed the library has none */
    CHECK_CONTAINS(err.message, images_name);
    CHECK(strchr(err.message, '\n') == NULL);
    err = (mw_error){0};
    CHECK(mw_dataset_open_idx(NULL, "train", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no folder");
    err = (mw_error){0};
    CHECK(mw_dataset_open_idx("x", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no prefix");
}

static void expect_bad_images(uint32_t magic, uint32_t n, uint32_t rows, uint32_t columns, const char *part)
{
    unsigned char images[IMAGE_BYTES];
    put_good();
    fill_images(images, magic, n, rows, columns);
    put_file(scratch(images_name), images, sizeof images);
    mw_error err = {0};
    CHECK(open_scratch(&err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, part);
}

static void test_idx_rejects_hostile_headers(void)
{
    expect_bad_images(0x801, IMAGES, ROWS, COLUMNS, "starts with 00000801");
    expect_bad_images(0x804, IMAGES, ROWS, COLUMNS, "starts with");
    expect_bad_images(0xd03, IMAGES, ROWS, COLUMNS, "starts with"); /* floats */
    expect_bad_images(0x01000803, IMAGES, ROWS, COLUMNS, "starts with");
    expect_bad_images(0x03080000, IMAGES, ROWS, COLUMNS, "starts with"); /* little-endian */
    expect_bad_images(0x803, 0, ROWS, COLUMNS, "dimension 0 is 0");
    expect_bad_images(0x803, IMAGES, ROWS, 0, "dimension 2 is 0");
    expect_bad_images(0x803, IMAGES + 1, ROWS, COLUMNS, "announces 32 bytes of data, but it has 24");
    expect_bad_images(0x803, IMAGES - 1, ROWS, COLUMNS, "announces 16 bytes of data, but it has 24");
    expect_bad_images(0x803, UINT32_MAX, 1, 1, "announces");
    expect_bad_images(0x803, UINT32_MAX, UINT32_MAX, UINT32_MAX, "overflows");
    expect_bad_images(0x803, 1u << 31, 1u << 31, 4, "overflows"); /* 2^64 */
    expect_bad_images(0x803, 1u << 31, 1u << 31, 3, "announces");
    expect_bad_images(0x803, PIXELS, 1, 1, "24 images"); /* 24 images, 3 labels */
}

static void test_idx_rejects_every_truncation(void)
{
    unsigned char images[IMAGE_BYTES], labels[LABEL_BYTES];
    fill_images(images, 0x803, IMAGES, ROWS, COLUMNS);
    fill_labels(labels, 0x801, IMAGES);
    for (size_t size = 0; size < sizeof images; size++) {
        put_good();
        put_file(scratch(images_name), images, size);
        mw_error err = {0};
        CHECK(open_scratch(&err) == NULL);
        CHECK_INT(err.status, MW_ERROR_FORMAT);
    }
    for (size_t size = 0; size < sizeof labels; size++) {
        put_good();
        put_file(scratch(labels_name), labels, size);
        mw_error err = {0};
        CHECK(open_scratch(&err) == NULL);
        CHECK_INT(err.status, MW_ERROR_FORMAT);
    }
}

/* ---- gzip, RFC 1952, of one stored block ---- */

static uint32_t crc32_of(const unsigned char *data, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    return ~crc;
}

static size_t gzip(unsigned char *out, const unsigned char *data, size_t size)
{
    static const unsigned char header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    memcpy(out, header, sizeof header);
    const unsigned char block[5] = {1, (unsigned char)size, (unsigned char)(size >> 8), (unsigned char)~size,
                                    (unsigned char)(~size >> 8)};
    memcpy(out + 10, block, sizeof block);
    memcpy(out + 15, data, size);
    const uint32_t crc = crc32_of(data, size);
    for (int i = 0; i < 4; i++) {
        out[15 + size + i] = (unsigned char)(crc >> (8 * i));
        out[19 + size + i] = (unsigned char)((uint32_t)size >> (8 * i));
    }
    return size + 23;
}

enum { GZ_MAX = 200 };

/* Good labels, and images of `size` bytes, both packed. Returns the size of the packed images. */
static size_t put_packed(unsigned char *packed, uint32_t n, size_t size)
{
    unsigned char images[GZ_MAX] = {0}, labels[LABEL_BYTES], packed_labels[GZ_MAX];
    remove_all();
    fill_images(images, 0x803, n, ROWS, COLUMNS);
    fill_labels(labels, 0x801, IMAGES);
    put_file(scratch("train-labels-idx1-ubyte.gz"), packed_labels, gzip(packed_labels, labels, sizeof labels));
    const size_t packed_size = gzip(packed, images, size);
    put_file(scratch("train-images-idx3-ubyte.gz"), packed, packed_size);
    return packed_size;
}

static bool have_zlib(void)
{
    unsigned char packed[GZ_MAX];
    put_packed(packed, IMAGES, IMAGE_BYTES);
    mw_error err = {0};
    mw_dataset_destroy(open_scratch(&err));
    return err.status != MW_ERROR_UNSUPPORTED;
}

static void test_idx_reads_gzipped_files(void)
{
    unsigned char packed[GZ_MAX];
    if (!have_zlib())
        SKIP("built without zlib");
    put_packed(packed, IMAGES, IMAGE_BYTES);
    mw_error err = {0};
    mw_dataset *dataset = open_scratch(&err);
    CHECK_OK(err);
    check_good(dataset);
    mw_dataset_destroy(dataset);
}

static void expect_bad_packed(const unsigned char *packed, size_t size, const char *part)
{
    put_file(scratch("train-images-idx3-ubyte.gz"), packed, size);
    mw_error err = {0};
    mw_dataset *dataset = open_scratch(&err);
    CHECK(dataset == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, part);
    mw_dataset_destroy(dataset);
}

static void test_idx_rejects_bad_gzip(void)
{
    unsigned char packed[GZ_MAX + 1];
    if (!have_zlib())
        SKIP("built without zlib");
    size_t size = put_packed(packed, IMAGES, IMAGE_BYTES + 1); /* a bomb: more than the header announces */
    expect_bad_packed(packed, size, "unpacks to more");
    size = put_packed(packed, IMAGES, IMAGE_BYTES - 1);
    expect_bad_packed(packed, size, "unpacks to 23");
    size = put_packed(packed, 1u << 30, IMAGE_BYTES); /* 8 GB announced */
    expect_bad_packed(packed, size, "more than 128 times the size of the file");
    size = put_packed(packed, 1u << 20, IMAGE_BYTES); /* 8 MB announced: memory grows with what arrives */
    expect_bad_packed(packed, size, "unpacks to 24");
    size = put_packed(packed, IMAGES, 10);
    expect_bad_packed(packed, size, "less than an IDX header");

    size = put_packed(packed, IMAGES, IMAGE_BYTES);
    packed[size] = 0;
    expect_bad_packed(packed, size + 1, "behind the end");
    for (size_t cut = 0; cut < size; cut++)
        expect_bad_packed(packed, cut, "cut off");
    packed[size - 8] ^= 1;
    expect_bad_packed(packed, size, "incorrect data check");
    packed[size - 8] ^= 1;
    packed[size - 4] ^= 1;
    expect_bad_packed(packed, size, "incorrect length check");
    packed[size - 4] ^= 1;
    packed[0] ^= 1;
    expect_bad_packed(packed, size, "incorrect header check");
}

/* ---- a bomb: what deflate packs to a thousandth ---- */

enum { BOMB_HEADER = 10, BOMB_RUNS = 1 << 20 };

typedef struct bit_writer {
    unsigned char *out;
    size_t bits;
} bit_writer;

/* The lowest bit of `value` first, as RFC 1951 packs all but Huffman codes. */
static void put_bits(bit_writer *writer, unsigned value, int count)
{
    for (int i = 0; i < count; i++, writer->bits++)
        writer->out[writer->bits / 8] |= (unsigned char)((value >> i & 1) << writer->bits % 8);
}

static void put_code(bit_writer *writer, unsigned code, int count)
{
    for (int i = count - 1; i >= 0; i--)
        put_bits(writer, code >> i & 1, 1);
}

/* A block of fixed codes: the bytes of `header`, a zero, and then BOMB_RUNS copies of 258 zeros, 13 bits each. */
static size_t put_bomb(unsigned char *out, const unsigned char *header, size_t size)
{
    static const unsigned char gzip_header[BOMB_HEADER] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    memcpy(out, gzip_header, sizeof gzip_header);
    bit_writer writer = {.out = out + BOMB_HEADER};
    put_bits(&writer, 1 | 1 << 1, 3); /* the last block, fixed codes */
    for (size_t i = 0; i <= size; i++) {
        const unsigned byte = i < size ? header[i] : 0;
        if (byte < 144)
            put_code(&writer, 0x30 + byte, 8);
        else
            put_code(&writer, 0x190 + byte - 144, 9);
    }
    for (int i = 0; i < BOMB_RUNS; i++) {
        put_code(&writer, 0xc5, 8); /* length 258 */
        put_code(&writer, 0, 5);    /* distance 1 */
    }
    return BOMB_HEADER + writer.bits / 8 + 1;
}

static void *bounded_resize(void *user, void *pointer, size_t size)
{
    size_t *largest = user;
    *largest = size > *largest ? size : *largest;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static void test_idx_refuses_a_bomb_before_it_unpacks(void)
{
    unsigned char header[16], labels[LABEL_BYTES];
    if (!have_zlib())
        SKIP("built without zlib");
    unsigned char *packed = calloc(1, (size_t)BOMB_RUNS * 2 + 1000);
    REQUIRE(packed != NULL);
    remove_all();
    put_be32(header, 0x803);
    put_be32(header + 4, IMAGES);
    put_be32(header + 8, BOMB_RUNS);
    put_be32(header + 12, 86); /* 3 * 86 = 258: the header is true, but for the byte that ends the bomb */
    fill_labels(labels, 0x801, IMAGES);
    put_file(scratch(labels_name), labels, sizeof labels);
    put_file(scratch("train-images-idx3-ubyte.gz"), packed, put_bomb(packed, header, sizeof header));
    free(packed);
    size_t largest = 0;
    const mw_allocator allocator = {.resize = bounded_resize, .user = &largest};
    mw_error err = {0};
    CHECK(mw__data_open_idx(&allocator, scratch("."), "train", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "270532608 bytes of data, more than 128 times the size of the file (1703");
    check_note(largest < 1 << 20, __FILE__, __LINE__, "%zu bytes were asked for", largest);
    remove_all();
}

static void test_idx_survives_failing_allocations(void)
{
    unsigned char packed[GZ_MAX];
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0)
            put_good();
        else if (have_zlib())
            put_packed(packed, IMAGES, IMAGE_BYTES);
        bool finished = false;
        for (long n = 0; !finished && n < 200; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_dataset *dataset = mw__data_open_idx(&allocator, scratch("."), "train", &err);
            finished = !failing.failed;
            CHECK((dataset != NULL) == (err.status == MW_OK));
            if (failing.failed)
                CHECK_INT(err.status, MW_ERROR_MEMORY);
            mw_dataset_destroy(dataset);
            CHECK_INT(failing.live, 0);
        }
        CHECK(finished);
    }
}

static void test_idx_reads_fashion_mnist(void)
{
    static const char folder[] = "/usr/share/datasets/fashion-mnist";
    if (!file_exists(folder))
        SKIP("%s is not there", folder);
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_open_idx(folder, "t10k", &err);
    if (err.status == MW_ERROR_UNSUPPORTED)
        SKIP("built without zlib");
    CHECK_OK(err);
    REQUIRE(dataset != NULL);
    CHECK_INT(mw_dataset_examples(dataset), 10000);
    CHECK(mw_shape_equal(mw_dataset_column_at(dataset, 0)->shape, MW_SHAPE(28, 28)));
    int count[10] = {0};
    const unsigned char *labels = mw_dataset_column_at(dataset, 1)->data;
    for (int i = 0; i < 10000; i++)
        count[labels[i] % 10]++;
    for (int i = 0; i < 10; i++)
        CHECK_INT(count[i], 1000); /* the set is balanced */
    mw_dataset_destroy(dataset);
}

int main(void)
{
    RUN(test_idx_reads_plain_files);
    RUN(test_idx_without_data_names_the_files_and_their_source);
    RUN(test_idx_rejects_hostile_headers);
    RUN(test_idx_rejects_every_truncation);
    RUN(test_idx_reads_gzipped_files);
    RUN(test_idx_rejects_bad_gzip);
    RUN(test_idx_refuses_a_bomb_before_it_unpacks);
    RUN(test_idx_survives_failing_allocations);
    RUN(test_idx_reads_fashion_mnist);
    return check_finish();
}
