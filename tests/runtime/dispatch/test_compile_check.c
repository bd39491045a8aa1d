/* ane_e5rt_compile_check with an architecture: the engine holds the program to the limits of that one, and says why. */
#include "runtime/files.h"
#include "support/check.h"

#include <millwright/ane_e5rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNARY(shape, operation)                                                                                        \
    "program(1.3)\n{func main<ios18>(tensor<fp16, " shape "> x) {tensor<fp16, " shape "> y = " operation               \
    "(x = x);} -> (y);}"

/* One convolution in a kernel of `width` columns. */
#define CONV(width, numbers)                                                                                           \
    "program(1.3)\n{func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x) {tensor<fp16, [1, 1, 1, " width                    \
    "]> w = const()[val = tensor<fp16, [1, 1, 1, " width "]>([[[[" numbers                                             \
    "]]]])]; tensor<fp16, [1, 1, 1, 32]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "   \
    "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"same\"), strides = tensor<int32, [2]>([1, 1]), weight = "   \
    "w, "                                                                                                              \
    "x = x);} -> (y);}"

static int check_text(const char *text, uint64_t mask, const char *options)
{
    put_file(scratch("check.mil"), text, strlen(text));
    return ane_e5rt_compile_check(scratch("check.mil"), NULL, mask, options);
}

typedef struct limit {
    const char *text;
    int first; /* the first generation that takes it; 0 = none */
    const char *why;
} limit;

static const limit limits[] = {
    {UNARY("[4]", "relu"), 13, "runs no MIL"},
    {UNARY("[4]", "sin"), 15, "it came with h15 (M3)"},
    {"program(1.3)\n{func main<ios18>(tensor<fp16, [4]> x) {tensor<fp16, [4]> r = random_uniform(high = fp16(1), low = "
     "fp16(0), seed = int32(-1), shape = tensor<int32, [1]>([4])); tensor<fp16, [4]> y = add(x = x, y = r);} -> (y);}",
     15, "it came with h15 (M3)"},
    {UNARY("[16384]", "relu"), 13, "runs no MIL"},
    {UNARY("[16385]", "relu"), 16, "an axis has 16385 elements, at most 16384 are taken"},
    {UNARY("[65536]", "relu"), 16, "an axis has 65536 elements, at most 16384 are taken"},
    {UNARY("[70000]", "relu"), 0, "an axis has 70000 elements, at most"},
    {CONV("13", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13"), 13, "runs no MIL"},
    {CONV("14", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14"), 14, "the kernel is wider than 13"},
};

static void test_each_architecture_has_its_limits(void)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int generation = 11; generation <= 18; generation++) {
            char options[40];
            snprintf(options, sizeof options, "TargetArchitecture=h%d", generation);
            const bool taken = check_text(limits[i].text, 4, options) == 0;
            const bool expected = limits[i].first != 0 && generation >= limits[i].first;
            check_note(taken == expected, __FILE__, __LINE__, "text %zu on h%d: %s", i, generation,
                       ane_e5rt_last_error());
            if (!taken && !expected && generation >= 13)
                CHECK_CONTAINS(ane_e5rt_last_error(), limits[i].why);
            if (!taken && generation < 13)
                CHECK(strstr(ane_e5rt_last_error(), "runs no MIL") != NULL ||
                      strstr(ane_e5rt_last_error(), limits[i].why) != NULL);
        }
}

static void test_without_an_architecture_only_what_none_takes_is_refused(void)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CHECK_INT(check_text(limits[i].text, 4, NULL), 0);
        CHECK_INT(check_text(limits[i].text, 1, "TargetArchitecture=h11"), 0); /* the CPU is no chip */
    }
    CHECK(check_text(UNARY("[4]", "tan"), 4, NULL) != 0);
}

static void test_of_architectures_the_last_holds(void)
{
    CHECK(check_text(UNARY("[4]", "sin"), 4, " TargetArchitecture=H13G;") != 0);
    CHECK_CONTAINS(ane_e5rt_last_error(), "the chip is h13 (M1)");
    CHECK_INT(check_text(UNARY("[4]", "sin"), 4, "TargetArchitecture=h11,TargetArchitecture=h16s"), 0);
}

static void test_an_architecture_that_there_is_not_is_refused_by_name(void)
{
    CHECK(check_text(UNARY("[4]", "relu"), 4, "TargetArchitecture=h99") != 0);
    CHECK_CONTAINS(ane_e5rt_last_error(), "TargetArchitecture=h99: no such architecture is known; known are h11 ");
    CHECK(check_text(UNARY("[4]", "relu"), 4, "TargetArchitecture=h13 Verbose=1") != 0);
    CHECK_CONTAINS(ane_e5rt_last_error(), "\"Verbose=1\" is no option of the ANE's compiler");
    CHECK(check_text(UNARY("[4]", "relu"), 4, "TargetArchitecture=") != 0);
    CHECK(check_text(UNARY("[4]", "relu"), 4,
                     "TargetArchitecture=h13h13h13h13h13h13h13h13h13h13h13h13h13h13h13h13h13h13h13") != 0);
}

int main(void)
{
#if defined(__APPLE__) && defined(MW_E5RT_LIBRARY)
    setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
#endif
    ane_e5rt_set_quiet(1);
    RUN(test_each_architecture_has_its_limits);
    RUN(test_without_an_architecture_only_what_none_takes_is_refused);
    RUN(test_of_architectures_the_last_holds);
    RUN(test_an_architecture_that_there_is_not_is_refused_by_name);
    return check_finish();
}
