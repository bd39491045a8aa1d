/* "did you mean": which names are near to what was typed. */
#include "base/text/spelling.h"
#include "support/check.h"

static const char *hint_of(const char *typed, const char *names, const char *before)
{
    static char out[200];
    mw__spelling spelling;
    mw__spelling_init(&spelling, typed);
    mw__spelling_offer_list(&spelling, names);
    return mw__spelling_hint(&spelling, before, out, sizeof out);
}

static void test_a_letter_more_less_other_or_swapped_is_found(void)
{
    static const char names[] = "train, report, bench";
    static const char *const typed[] = {"trian", "tran", "traain", "trait", "Train", "TRAIN", "rtain"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        CHECK_STR(hint_of(typed[i], names, ""), "; did you mean \"train\"?");
    CHECK_STR(hint_of("reprot", names, "mw "), "; did you mean mw report?");
}

static void test_separators_are_one_letter(void)
{
    CHECK_STR(hint_of("batch-norm", "batch_norm, layer_norm", ""), "; did you mean \"batch_norm\"?");
    CHECK_STR(hint_of("Batch Norm", "batch_norm, layer_norm", ""), "; did you mean \"batch_norm\"?");
}

static void test_what_is_far_is_not_offered(void)
{
    static const char *const typed[] = {"", "x", "xy", "grain of salt", "benches of wood", "zzzzz"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        CHECK_STR(hint_of(typed[i], "train, report, ops", ""), "");
    CHECK_STR(hint_of("train", "", ""), "");
}

static void test_equally_near_ones_are_offered_together(void)
{
    CHECK_STR(hint_of("top-", "top-k, seed, top-p", "--"), "; did you mean --top-k or --top-p?");
    CHECK_STR(hint_of("aa", "ab, ac, ad, ae", ""), "; did you mean \"ab\", \"ac\" or \"ad\"?");
    CHECK_STR(hint_of("trai", "train, trait, train", ""), "; did you mean \"train\" or \"trait\"?");
}

static void test_a_beginning_is_meant_where_nothing_is_nearer(void)
{
    CHECK_STR(hint_of("checkp", "checkpoint, check", ""), "; did you mean \"check\"?");
    CHECK_STR(hint_of("learning", "learning_rate, epochs", ""), "; did you mean \"learning_rate\"?");
    CHECK_STR(hint_of("batch_size", "batch, epochs", ""), "; did you mean \"batch\"?");
    CHECK_STR(hint_of("ba", "batch", ""), "");
}

static void test_long_and_foreign_words_are_taken(void)
{
    char word[300];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    CHECK_STR(hint_of(word, "a, aaaa", ""), "");
    CHECK_STR(hint_of("train", word, ""), "");
    CHECK_STR(hint_of("tra\x1bn", "train", ""), "; did you mean \"train\"?");
    CHECK_STR(hint_of("train",
                      "tr\x1b"
                      "in",
                      ""),
              "; did you mean \"tr\\x1bin\"?");
    char small[12];
    mw__spelling spelling;
    mw__spelling_init(&spelling, "train");
    mw__spelling_offer(&spelling, "trait");
    CHECK(strlen(mw__spelling_hint(&spelling, "", small, sizeof small)) < sizeof small);
}

int main(void)
{
    RUN(test_a_letter_more_less_other_or_swapped_is_found);
    RUN(test_separators_are_one_letter);
    RUN(test_what_is_far_is_not_offered);
    RUN(test_equally_near_ones_are_offered_together);
    RUN(test_a_beginning_is_meant_where_nothing_is_nearer);
    RUN(test_long_and_foreign_words_are_taken);
    return check_finish();
}
