/* Losses in fp16 follow those in fp32, with every optimizer: of a U-Net here, with MW_NIGHTLY=1 of the nets of the
 * table in docs/training.md, which that prints. */
#include "support/check.h"
#include "support/optimizers.h"
#include "unet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, WINDOWS = 4 };

/* How far plain fp16 may be off: some hundredths where every step of a weight is alike, as rounding w - step then takes
 * or gives the same part of it each time; steps by adaptive rates differ more from time to time. */
typedef struct row {
    const char *name;
    mw_optimizer optimizer;
    double plain;
} row;

/* Of two-term weights, and of adaptive rates. What was seen is a tenth of it where the numbers of the net matter less
 * than that (`shifted`, below). */
#define CLOSE 0.01

static void make_rows(row rows[ROWS])
{
    const row all[ROWS] = {{"sgd", mw_sgd(0.05f), 0.04},
                           {"momentum", mw_sgd_momentum(0.01f, 0.9f, false), 0.08},
                           {"nesterov", mw_sgd_momentum(0.01f, 0.9f, true), 0.12},
                           {"adam", mw_adam(2e-3f), CLOSE},
                           {"adamw", mw_adamw(2e-3f, 0.01f), CLOSE},
                           {"rmsprop", mw_rmsprop(1e-3f), CLOSE},
                           {"rmsprop centered", optimizer_centered(mw_rmsprop(1e-3f)), CLOSE},
                           {"adagrad", mw_adagrad(1e-2f), CLOSE},
                           {"lion", mw_lion(3e-4f, 0.01f), 0.15}};
    memcpy(rows, all, sizeof all);
}

/* `room`: what may come on top, as rounding the first weights by 2^-12 does as much to fp32. */
static void check_half(unet_run run, const row *r, const double *single, double room, double *out_off)
{
    double half[WINDOWS];
    run.device = MW_DEVICE_ANE;
    for (int k = 0; k < 2; k++) {
        mw_optimizer_set(&run.optimizer, MW_OPTIMIZER_COMPENSATED, k == 1);
        unet_train(run, WINDOWS, half);
        out_off[k] = unet_distance(half, single, WINDOWS);
        const double limit = (k == 1 ? CLOSE : r->plain) + room;
        check_note(out_off[k] <= limit, __FILE__, __LINE__, "%s, compensated %d: off by %.3g of the loss, not %.3g",
                   r->name, k, out_off[k], limit);
    }
}

static void test_losses_of_a_unet_follow_those_of_fp32(void)
{
    row rows[ROWS];
    make_rows(rows);
    for (int i = 0; i < ROWS; i++) {
        double single[WINDOWS], off[2];
        const unet_run run = {.device = MW_DEVICE_CPU, .optimizer = rows[i].optimizer, .seed = 2};
        unet_train(run, WINDOWS, single);
        check_half(run, &rows[i], single, 0.0, off);
    }
}

/* ---- nightly ---- */

static const struct {
    const char *name;
    unet_form form;
} nets[] = {{"U-Net, mse", {0}},
            {"U-Net, batch norm", {.norm = 'b'}},
            {"U-Net of strides, group norm, bce", {.strides = true, .segments = true, .norm = 'g'}},
            {"U-Net of strides, instance norm", {.strides = true, .norm = 'i'}},
            {"convolutions", {.classify = true}},
            {"dense layers", {.classify = true, .dense = true}}};

static void compare(unet_form form, const row *r)
{
    double single[WINDOWS], shifted[WINDOWS], off[2];
    unet_run run = {.form = form, .device = MW_DEVICE_CPU, .optimizer = r->optimizer, .seed = 2, .shift = 0x1p-12f};
    unet_train(run, WINDOWS, shifted);
    run.shift = 0.0f;
    unet_train(run, WINDOWS, single);
    const double room = unet_distance(shifted, single, WINDOWS);
    check_half(run, r, single, 3.0 * room, off);
    printf("| %-16s | %.4f | %.2f %% | %.2f %% | %.2f %% |\n", r->name, single[WINDOWS - 1], 100.0 * room,
           100.0 * off[0], 100.0 * off[1]);
}

static void test_losses_of_many_nets_follow_those_of_fp32(void)
{
    row rows[ROWS];
    const char *nightly = getenv("MW_NIGHTLY");
    if (nightly == NULL || nightly[0] == '\0') {
        SKIP("MW_NIGHTLY=1 compares six nets");
        return;
    }
    make_rows(rows);
    for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
        printf("%s: last loss, fp32 shifted, fp16, compensated\n", nets[n].name);
        for (int i = 0; i < ROWS; i++)
            compare(nets[n].form, &rows[i]);
    }
}

int main(void)
{
    RUN(test_losses_of_a_unet_follow_those_of_fp32);
    RUN(test_losses_of_many_nets_follow_those_of_fp32);
    return check_finish();
}
