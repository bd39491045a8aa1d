/* Profiles and their texts. What each switch does is in test_facts.c. */
#include "rules/arithmetic.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>

static mw__arithmetic parsed(const char *text)
{
    mw_error err = {0};
    mw__arithmetic set = 0;
    mw__arithmetic_parse(text, &set, &err);
    CHECK_OK(err);
    return set;
}

static void test_a_profile_is_what_its_rows_say(void)
{
    CHECK_INT(parsed("ieee"), 0);
    CHECK_INT(parsed("h13"), mw__arithmetic_of(MW_CHIP_H13));
    CHECK_INT(parsed(MW__ARITHMETIC_DEFAULT), mw__arithmetic_of(MW_CHIP_AUTO));
    for (int i = 0; i < MW__SWITCH_COUNT; i++) {
        const mw__switch_row *row = &mw__switch_rows()[i];
        for (mw_chip chip = MW_CHIP_H13; chip <= MW_CHIP_H17; chip = (mw_chip)(chip + 1))
            CHECK_INT(mw__arithmetic_of(chip) >> i & 1u, row->chips >> chip & 1u);
        CHECK(row->what[0] != '\0' && row->measured[0] != '\0' && row->source[0] != '\0');
    }
}

static void test_every_switch_is_set_and_cleared_by_name(void)
{
    for (int i = 0; i < MW__SWITCH_COUNT; i++) {
        char text[128];
        snprintf(text, sizeof text, "ieee,%s", mw__switch_rows()[i].name);
        CHECK_INT(parsed(text), (mw__arithmetic)1 << i);
        snprintf(text, sizeof text, "ieee,%s,-%s", mw__switch_rows()[i].name, mw__switch_rows()[i].name);
        CHECK_INT(parsed(text), 0);
    }
}

static void test_what_is_no_profile_is_refused_by_its_word(void)
{
    static const char *const texts[][2] = {{"", "\"\" is no profile"},
                                           {"h12", "h12"},
                                           {"H13", "H13"},
                                           {"h13 ", "h13 "},
                                           {"no_nan", "no_nan"},
                                           {"h13,", "no switch"},
                                           {"h13,,", "no switch"},
                                           {"h13,nothing", "nothing"},
                                           {"h13,h14", "h14"},
                                           {"h13,--no_nan", "-no_nan"},
                                           {"-h13", "-h13"},
                                           {"h13,no_nan,", "no switch"},
                                           {"h13,-", "no switch"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mw_error err = {0};
        mw__arithmetic set = 77;
        CHECK_INT(mw__arithmetic_parse(texts[i][0], &set, &err), MW_ERROR_ARGUMENT);
        CHECK_CONTAINS(err.message, texts[i][1]);
        CHECK_INT(set, 77);
    }
    char large[2 * MW__ARITHMETIC_TEXT];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    mw_error err = {0};
    mw__arithmetic set;
    CHECK_INT(mw__arithmetic_parse(large, &set, &err), MW_ERROR_ARGUMENT);
}

/* 1 / 0 on the model of the ANE by these options; NAN if it is refused. */
static float one_by_zero(mw_chip chip, const char *profile, mw_error *err)
{
    float x = 1.0f, y = 0.0f, result = NAN;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_real_div(mw_input(graph, "x", MW_F16, MW_SHAPE(1)), mw_input(graph, "y", MW_F16, MW_SHAPE(1))), "z");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_ANE;
    options.chip = chip;
    options.profile = profile;
    mw_program *program = mw_program_create(graph, &options, err);
    if (program != NULL && mw_program_write(program, "x", MW_F32, &x, 1, err) == MW_OK &&
        mw_program_write(program, "y", MW_F32, &y, 1, err) == MW_OK && mw_program_run(program, err) == MW_OK)
        mw_program_read(program, "z", MW_F32, &result, 1, err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return result;
}

static void test_options_choose_the_profile(void)
{
    mw_error err = {0};
    CHECK_NEAR(one_by_zero(MW_CHIP_AUTO, NULL, &err), 0, 0);
    CHECK_NEAR(one_by_zero(MW_CHIP_H13, NULL, &err), 0, 0);
    CHECK(one_by_zero(MW_CHIP_AUTO, "ieee", &err) == INFINITY);
    CHECK(one_by_zero(MW_CHIP_H17, "h17,-zero_quotient", &err) == INFINITY);
    CHECK_OK(err);
    one_by_zero(MW_CHIP_AUTO, "h99", &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "h99");
}

static void test_the_environment_goes_before_the_options(void)
{
    mw_error err = {0};
    setenv("MW_ENGINE_PROFILE", "ieee", 1);
    CHECK(one_by_zero(MW_CHIP_H13, "h13", &err) == INFINITY);
    setenv("MW_ENGINE_PROFILE", "h13,no_such", 1);
    one_by_zero(MW_CHIP_AUTO, NULL, &err);
    CHECK_CONTAINS(err.message, "no_such");
    unsetenv("MW_ENGINE_PROFILE");
}

int main(void)
{
    RUN(test_a_profile_is_what_its_rows_say);
    RUN(test_every_switch_is_set_and_cleared_by_name);
    RUN(test_what_is_no_profile_is_refused_by_its_word);
    RUN(test_options_choose_the_profile);
    RUN(test_the_environment_goes_before_the_options);
    return check_finish();
}
