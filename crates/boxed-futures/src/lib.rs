//! Compiles the async methods that leave a crate in that crate.

use proc_macro::TokenStream;
use proc_macro2::Span;
use quote::{ToTokens as _, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, Generics, ImplItem, ImplItemFn, ItemImpl, Lifetime, ParenthesizedGenericArguments,
    ReceiverKind, ReturnType, Signature, Type, TypeReference, Visibility, parse_macro_input,
    parse_quote,
};

/// Makes each `pub async fn` of an `impl` block return a boxed future: one that is [`Send`], or,
/// with `#[boxed(local)]`, one that stays on its thread.
///
/// The caller pays an allocation for each call. What cannot be compiled here or is not awaited
/// elsewhere stays as it is: generic methods, and those that are `pub(crate)` or private.
///
/// All that a method borrows is borrowed for one lifetime, that of the future. An `async fn` has a
/// lifetime for each, which a box could only name with bounds, and under bounds the compiler
/// remembers nothing that it has proved for other methods: checking `refract-persistence` took four
/// times as long.
#[proc_macro_attribute]
pub fn boxed(options: TokenStream, block: TokenStream) -> TokenStream {
    let is_local = options.to_string() == "local";
    let mut block = parse_macro_input!(block as ItemImpl);
    let mut borrowed = Borrowed::named_in(&block.generics);
    borrowed.visit_type_mut(&mut block.self_ty);
    borrowed.declare_in(&mut block.generics);
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && method.sig.asyncness.is_some()
            && matches!(method.vis, Visibility::Public(_))
            && !is_generic(&method.sig)
        {
            return_box(method, borrowed.clone(), is_local);
        }
    }
    block.into_token_stream().into()
}

fn is_generic(method: &Signature) -> bool {
    let mut arguments = method.inputs.iter();
    method.generics.type_params().next().is_some()
        || arguments.any(|argument| {
            matches!(argument, FnArg::Typed(typed) if matches!(*typed.ty, Type::ImplTrait(_)))
        })
}

/// Makes an async method a plain one that returns the future of its body.
fn return_box(method: &mut ImplItemFn, mut borrowed: Borrowed, is_local: bool) {
    let signature = &mut method.sig;
    for input in &mut signature.inputs {
        borrowed.visit_fn_arg_mut(input);
    }
    let mut output = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, output) => Type::clone(output),
    };
    borrowed.visit_type_mut(&mut output);
    borrowed.declare_in(&mut signature.generics);
    let send = (!is_local).then(|| quote!(::core::marker::Send+));
    let lifetime = borrowed.lifetime();
    signature.output = parse_quote! {
        -> ::core::pin::Pin<::std::boxed::Box<
            dyn ::core::future::Future<Output = #output> + #send #lifetime
        >>
    };
    signature.asyncness = None;
    let body = &method.block;
    method.block = parse_quote!({ ::std::boxed::Box::pin(async move #body) });
}

/// The lifetime of all that a block or a method borrows.
#[derive(Clone)]
struct Borrowed {
    name: Lifetime,
    state: Naming,
}

#[derive(Clone, Copy, PartialEq)]
enum Naming {
    /// Nothing is borrowed so far.
    Unused,
    /// The name is used, and not declared yet.
    Used,
    /// The block or the method declares the name.
    Declared,
}

impl Borrowed {
    fn named_in(generics: &Generics) -> Self {
        match generics.lifetimes().next() {
            Some(declared) => Self {
                name: declared.lifetime.clone(),
                state: Naming::Declared,
            },
            None => Self {
                name: Lifetime::new("'future", Span::call_site()),
                state: Naming::Unused,
            },
        }
    }

    fn declare_in(&mut self, generics: &mut Generics) {
        if self.state == Naming::Used {
            let name = &self.name;
            generics.params.insert(0, parse_quote!(#name));
            self.state = Naming::Declared;
        }
    }

    /// The lifetime of a future: a future that borrows nothing lasts.
    fn lifetime(&self) -> Lifetime {
        match self.state {
            Naming::Unused => Lifetime::new("'static", Span::call_site()),
            Naming::Used | Naming::Declared => self.name.clone(),
        }
    }

    fn name(&mut self) -> Lifetime {
        if self.state == Naming::Unused {
            self.state = Naming::Used;
        }
        self.name.clone()
    }
}

impl VisitMut for Borrowed {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.name();
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.name());
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_receiver_kind_mut(&mut self, receiver: &mut ReceiverKind) {
        if let ReceiverKind::Reference(_, lifetime @ None, _) = receiver {
            *lifetime = Some(self.name());
        }
        visit_mut::visit_receiver_kind_mut(self, receiver);
    }

    // a function that is passed chooses its own lifetimes
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }
}
