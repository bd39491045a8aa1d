/* mw ranges with a profile: products of a model and of a recipe's step, as text and as JSON, and what is refused. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOONS  MW_TESTS_DIR "/../examples/recipes/moons.csv"
#define RECIPE "--training", "moons.json", "--data", MOONS

/* [16384, 16384, -16384, -16384, 1] times ones, and 2^-9 times 2^-9. */
static const char sums[] =
    "program(1.3)\n{func main<ios18>(tensor<fp32, [1, 5]> x) {"
    "tensor<fp32, [5, 1]> ones = const()[val = tensor<fp32, [5, 1]>([[1], [1], [1], [1], [1]])];"
    "tensor<fp32, [1, 5]> row = const()[val = tensor<fp32, [1, 5]>([[16384, 16384, -16384, -16384, 1]])];"
    "tensor<fp32, [1, 5]> zero = sub(x = x, y = x); tensor<fp32, [1, 5]> fed = add(x = zero, y = row);"
    "tensor<fp32, [1, 1]> sum = matmul(x = fed, y = ones);"
    "tensor<fp32, [1, 1]> small = const()[val = tensor<fp32, [1, 1]>([[0.001953125]])];"
    "tensor<fp32, [1, 1]> none = const()[val = tensor<fp32, [1, 1]>([[0]])];"
    "tensor<fp32, [1, 1]> little = add(x = small, y = none);"
    "tensor<fp32, [1, 1]> lost = matmul(x = little, y = small);} -> (sum, lost);}\n";

static void write_files(void)
{
    folder_put("sums.mil", sums);
    folder_put("moons.json", "{\"network\": [{\"dense\": 8}, \"relu\", {\"dense\": \"classes\"}], \"batch\": 16}");
}

static void test_a_model_has_rows_of_products(void)
{
    CHECK_MW(3, "products in fixed point (h16): 2 operations, 1 overflow (1 on the way)", NULL, "ranges", "sums.mil",
             "--profile", "h16");
    CHECK_MW(3, "matmul \"sum\" [1, 1] of fed, ones\n         cure: \"fed\" x 2^-2 before it", NULL, "ranges",
             "sums.mil", "--profile", "h16");
    CHECK_MW(3, "100.0% 100.0% 100.0% 100.0% 1.0e+00 0.0e+00      0      0  fwd  matmul \"lost\"", NULL, "ranges",
             "sums.mil", "--profile", "h18g");
    CHECK_MW(0, "all values fit", NULL, "ranges", "sums.mil");
}

static void test_products_are_there_as_json(void)
{
    shell_result r = shell_mw((const char *const[]){"ranges", "sums.mil", "--profile", "h16", "--json", NULL});
    CHECK_INT(r.code, 3);
    CHECK(shell_is_json(r.out));
    CHECK_CONTAINS(r.out, "\"profile\": \"h16\", \"fixed_point\": true, \"loss_scale\": 0, \"products\": [{");
    CHECK_CONTAINS(r.out, "\"tensor\": \"sum\", \"part\": null, \"x\": \"fed\", \"y\": \"ones\"");
    CHECK_CONTAINS(r.out, "\"peak\": 1, \"overflowed\": 1, \"overflowed_on_way\": 1, \"room\": -2");
    CHECK_CONTAINS(r.out, "\"products\": 1, \"vanished\": 1, \"dropped\": 0, \"nonzero\": 1, \"zeroed\": 1");
    shell_free(&r);
    r = shell_mw((const char *const[]){"ranges", "sums.mil", "--json", NULL});
    CHECK(shell_is_json(r.out) && strstr(r.out, "\"products\"") == NULL && strstr(r.out, "profile") == NULL);
    shell_free(&r);
}

static void test_a_profile_without_fixed_point_says_so(void)
{
    CHECK_MW(0, "the profile h17 adds products without fixed point", NULL, "ranges", "sums.mil", "--profile", "h17");
    shell_result r = shell_mw((const char *const[]){"ranges", "sums.mil", "--profile", "h13", "--json", NULL});
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "\"profile\": \"h13\", \"fixed_point\": false}");
    shell_free(&r);
}

/* Two products forward, three backward; the step of the CPU has no counts. */
static void test_a_recipe_has_the_products_of_its_step(void)
{
    shell_result r = shell_mw((const char *const[]){"ranges", RECIPE, "--profile", "h16", NULL});
    CHECK_CONTAINS(r.out, "products in fixed point (h16): 5 operations");
    CHECK_CONTAINS(r.out, "back  matmul");
    CHECK_CONTAINS(r.out, " fwd  matmul");
    shell_free(&r);
    r = shell_mw((const char *const[]){"ranges", RECIPE, NULL});
    CHECK_CONTAINS(r.out, " beyond its range");
    CHECK(strstr(r.out, "fixed point") == NULL);
    shell_free(&r);
    r = shell_mw((const char *const[]){"ranges", RECIPE, "--profile", "h18g", "--device", "ane", "--json", NULL});
    CHECK(shell_is_json(r.out));
    CHECK_CONTAINS(r.out, "\"is_gradient\": true");
    shell_free(&r);
}

/* docs/training.md: eight layers of sigmoids, whose gradients differ by more than a loss scale bridges. */
static void put_sigmoids(const char *path, const char *between)
{
    char text[2048] = "{\"network\": [";
    for (int i = 0; i < 8; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "{\"dense\": 32}, %s\"sigmoid\", ", between);
    snprintf(text + strlen(text), sizeof text - strlen(text), "{\"dense\": \"classes\"}], \"batch\": 64}");
    folder_put(path, text);
}

static void test_a_step_that_stalls_says_why(void)
{
    put_sigmoids("sigmoids.json", "");
    put_sigmoids("normalized.json", "\"batch_norm\", ");
    shell_result r = shell_mw(
        (const char *const[]){"ranges", "--training", "sigmoids.json", "--data", MOONS, "--profile", "h16", NULL});
    CHECK_CONTAINS(r.out, "gradients: a loss scale of 32768, not 2048, x 2^4, fits all of them");
    CHECK_CONTAINS(r.out, "normalize layers");
    CHECK_CONTAINS(r.out, "100.0% 100.0%  96.9% 100.0% 1.0e+00 0.0e+00      0      0 back  matmul");
    shell_free(&r);
    r = shell_mw(
        (const char *const[]){"ranges", "--training", "normalized.json", "--data", MOONS, "--profile", "h16", NULL});
    CHECK_CONTAINS(r.out, "0 below the grid\nall products fit\n");
    CHECK(strstr(r.out, "cure:") == NULL);
    shell_free(&r);
}

static void test_what_does_not_fit_together_is_refused(void)
{
    CHECK_MW(2, NULL, "one of FILE and --training RECIPE is expected", "ranges");
    CHECK_MW(2, NULL, "one of FILE and --training RECIPE is expected", "ranges", "sums.mil", RECIPE);
    CHECK_MW(2, NULL, "is no profile", "ranges", "sums.mil", "--profile", "h99");
    CHECK_MW(2, NULL, "--profile h16 is of a step on --device ane, not cpu", "ranges", RECIPE, "--profile", "h16",
             "--device", "cpu");
    CHECK_MW(2, NULL, "--shape has no effect with --training", "ranges", RECIPE, "--shape", "x=1");
    CHECK_MW(2, NULL, "--device is the CPU", "ranges", "sums.mil", "--device", "ane", "--profile", "h16");
    CHECK_MW(1, NULL, "gone.json", "ranges", "--training", "gone.json");
    CHECK_MW(1, NULL, "where is the data?", "ranges", "--training", "moons.json");
    folder_put("odd.json", "{\"network\": [{\"dense\": \"classes\"}], \"epoch\": 8}");
    CHECK_MW(2, NULL, "\"epoch\" is not known here", "ranges", "--training", "odd.json", "--data", MOONS);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_a_model_has_rows_of_products);
    RUN(test_products_are_there_as_json);
    RUN(test_a_profile_without_fixed_point_says_so);
    RUN(test_a_recipe_has_the_products_of_its_step);
    RUN(test_a_step_that_stalls_says_why);
    RUN(test_what_does_not_fit_together_is_refused);
    folder_leave(folder);
    return check_finish();
}
