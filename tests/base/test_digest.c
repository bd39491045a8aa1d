/* The digest against Python's hashlib (BLAKE2b, digest_size=32), whole and in parts of every size. */
#include "base/number/digest.h"
#include "support/check.h"

#include <stdlib.h>

/* Byte i is (7 i + i / 251) mod 256. */
static const struct {
    size_t size;
    const char *digest;
} known[] = {
    {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
    {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
    {3, "b316f3683ac87007461037a8ff6547de35618800044bb3a4e98b3560c92c3794"},
    {127, "4ff62e7c4c43fe101a078479c48836be4907d9d498dcc577ca89d694b2c11f9b"},
    {128, "14696d2a98d9f8a280da8b132b1045b345e1033759c6b02fcc4ee885c8ae7c37"},
    {129, "3934215260b1039be9d9d2b073b059bcd50120c327a22af93eb4d98cf821c14c"},
    {255, "2d106b5efea519e4564d2bd56bcfd2245f30787986ad95a734c248f001aee3c4"},
    {256, "7b4337135e0b112b7ec8528f22dd05af226cca2a358cca731696b6713f9383cb"},
    {257, "36af0bbce3ecc795d8d339ecc7a22badfd16bfa130fc2748c9b2d0f31ce00dd3"},
    {1000, "215bbdb5d56e0153eca48cbf15747f1daf9a359f05042c17c87563010af5b92e"},
    {100000, "9717865b522363ff7e204da77636d78d5c73691e5672b098415d1e19dd6d6f2d"},
};

static unsigned char *make_bytes(size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    for (size_t i = 0; bytes != NULL && i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    return bytes;
}

static void check_in_parts(const unsigned char *bytes, size_t size, size_t part, const char *expected)
{
    char found[MW__DIGEST_HEX];
    mw__digest digest;
    mw__digest_begin(&digest);
    for (size_t at = 0; at < size; at += part)
        mw__digest_add(&digest, bytes + at, size - at < part ? size - at : part);
    mw__digest_end(&digest, found);
    CHECK_STR(found, expected);
}

static void test_known_digests(void)
{
    static const size_t parts[] = {1, 7, 127, 128, 129, 4096, 1000000};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        unsigned char *bytes = make_bytes(known[k].size);
        REQUIRE(bytes != NULL);
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            check_in_parts(bytes, known[k].size, parts[p], known[k].digest);
        free(bytes);
    }
}

int main(void)
{
    RUN(test_known_digests);
    return check_finish();
}
