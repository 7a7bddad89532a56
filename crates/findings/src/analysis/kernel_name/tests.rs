//! Names as compilers, linkers and generators write them.

use super::*;

fn base(name: &str) -> String {
    KernelName::parse(name).base
}

fn short(name: &str) -> String {
    KernelName::parse(name).short()
}

#[test]
fn base_names_have_no_types_and_no_parameters() {
    for (name, wanted) in [
        ("attn_fwd.kd", "attn_fwd"),
        ("volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"),
        (
            "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, false>(int, float const*, kernel_grad_params)",
            "cudnn::cnn::wgrad_alg0_engine",
        ),
        (
            "void soft_max_f32<true, 512, float>(float const*, soft_max_params) [clone .kd]",
            "soft_max_f32",
        ),
        (
            "void at::native::(anonymous namespace)::max_pool_forward_nchw<float>(int, float const*)",
            "at::native::max_pool_forward_nchw",
        ),
        (
            "void <unnamed>::softmax_warp_forward<float>(float *)",
            "softmax_warp_forward",
        ),
        (
            "std::enable_if<(((8)>(0))), void>::type foo::bar<float, (((8)>(0)))>(float*)",
            "foo::bar",
        ),
        ("fused_conv[abi:cxx11]<float>(int)", "fused_conv"),
        (
            "Memcpy HtoD (Pageable -> Device)",
            "Memcpy HtoD (Pageable -> Device)",
        ),
        ("Conv_0 + Relu_1", "Conv_0 + Relu_1"),
        ("PWN(PWN(Sigmoid_3), Mul_4)", "PWN(PWN(Sigmoid_3), Mul_4)"),
        ("gpu::gemm[alpha=1,beta=0]", "gpu::gemm"),
        (
            "gpu::code_object::mlir_convolution_add_relu",
            "gpu::code_object::mlir_convolution_add_relu",
        ),
        (
            "void cask_cudnn::computeOffsetsKernel<false, false>(cask_cudnn::ComputeOffsetsParams)",
            "cask_cudnn::computeOffsetsKernel",
        ),
        (
            "{lambda(float)#1}::operator()",
            "{lambda(float)#1}::operator()",
        ),
        ("", ""),
        ("void f<", "f"),
        ("void >>>(((", ">>>"),
    ] {
        assert_eq!(base(name), wanted, "{name}");
    }
}

#[test]
fn names_of_linkers_are_read() {
    assert_eq!(
        base(
            "_ZN2at6native12_GLOBAL__N_128layer_norm_grad_input_kernelIffLb0EEEvPKT_S5_PKT0_S8_S5_PS3_i.kd"
        ),
        "at::native::layer_norm_grad_input_kernel"
    );
    assert_eq!(
        base("_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE.kd"),
        "ncclDevKernel_Generic_1"
    );
    assert_eq!(
        base("_ZN7ck_tile6kentryIJustCut"),
        "ck_tile::kentry",
        "cut in its middle"
    );
    assert_eq!(base("_Zwhat"), "_Zwhat");
    assert_eq!(base("void f<1, µ"), "f", "cut within a letter of two bytes");
    let endless = "_Z18446744073709551615f";
    assert_eq!(base(endless), endless);
    let wrapped = KernelName::parse(
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIlEESt5arrayIPcLm1EEEEviT0_T1_.kd",
    );
    assert_eq!(wrapped.inner.as_deref(), Some("at::native::FillFunctor"));
}

#[test]
fn wrappers_show_what_they_carry() {
    for (name, wanted) in [
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>)",
            "AddFunctor (vectorized_elementwise_kernel)",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::threshold_kernel_impl<float>(at::TensorIterator&, float, float)::{lambda(float, float)#1}, at::detail::Array<char*, 3> >(int)",
            "threshold_kernel_impl (vectorized_elementwise_kernel)",
        ),
        (
            "void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
            "direct_copy_kernel_cuda (elementwise_kernel_manual_unroll)",
        ),
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >(int)",
            "MeanOps (reduce_kernel)",
        ),
        (
            "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)",
            "sum_functor (reduce_kernel)",
        ),
        (
            "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>(cutlass_80::Params)",
            "cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4 (Kernel)",
        ),
        (
            "void unary_gated_op_kernel<&(op_silu(float)), float>(float const*)",
            "op_silu (unary_gated_op_kernel)",
        ),
    ] {
        assert_eq!(short(name), wanted, "{name}");
    }
}

#[test]
fn generated_names_are_told_by_their_tiles() {
    assert_eq!(
        short("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x128_MI16x16x1_SN"),
        "Cijk_Alik_Bljk MT64x32x128"
    );
    assert_eq!(
        short("igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8"),
        "igemm_fwd_gtcx2_nhwc_bf16 128x128x32"
    );
    let family = |name: &str| KernelName::parse(name).family();
    assert_eq!(
        family("volta_scudnn_128x64_relu_interior_nn_v1"),
        "volta_scudnn"
    );
    assert_eq!(
        family("Cijk_Alik_Bljk_B_MT64x32x128_MI16"),
        "Cijk_Alik_Bljk_B"
    );
    assert_eq!(family("attn_fwd"), "attn_fwd");
    assert_eq!(family("128x64"), "128x64");
    let one = "void v<4, f>(int)";
    assert_eq!(family(one), "v");
}

#[test]
fn kernels_of_one_short_name_are_told_apart() {
    let names = [
        "void cudnn::wgrad<float, 128>(int)",
        "void cudnn::wgrad<float, 512>(int)",
        "attn_fwd",
        "void cudnn::dgrad<float>(int)",
        "Cijk_Alik_Bljk_A_MT64x32x128_SN",
        "Cijk_Alik_Bljk_B_MT64x32x128_SN",
    ];
    assert_eq!(
        short_names(&names),
        [
            "wgrad<float, 128>",
            "wgrad<float, 512>",
            "attn_fwd",
            "dgrad",
            "Cijk_Alik_Bljk MT64x32x128",
            "Cijk_Alik_Bljk MT64x32x128 #2",
        ]
    );
}

#[test]
fn no_name_is_too_strange() {
    for name in [
        "<",
        ">",
        "(",
        "::",
        "void ",
        "a<b>c<",
        "é<ü>(ß)",
        "void é::ß<4, ü>(x)",
        "_ZN",
        "operator()()",
    ] {
        let found = KernelName::parse(name);
        let _ = (found.short(), found.family());
    }
}
