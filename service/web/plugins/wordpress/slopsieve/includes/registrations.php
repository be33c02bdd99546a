<?php
/**
 * Has registrations judged where that is switched on; a site in mode enforce refuses clear spam.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'login_enqueue_scripts', __NAMESPACE__ . '\\load_script_for_registrations' );
add_action( 'register_form', __NAMESPACE__ . '\\print_registration_fields' );
add_filter( 'registration_errors', __NAMESPACE__ . '\\judge_registration', 999, 3 );
// A network of blogs has a form of its own.
add_action( 'before_signup_header', __NAMESPACE__ . '\\load_script_for_registrations' );
add_action( 'signup_extra_fields', __NAMESPACE__ . '\\print_registration_fields' );
add_filter( 'wpmu_validate_user_signup', __NAMESPACE__ . '\\judge_signup', 999 );

/** Say whether registrations are judged: only where that was switched on. */
function judges_registrations(): bool {
	return is_set_up() && is_chosen( 'registrations', false );
}

/** Load the service's script where somebody registers. */
function load_script_for_registrations(): void {
	$action = $GLOBALS['action'] ?? '';
	if ( judges_registrations() && ( 'register' === $action || doing_action( 'before_signup_header' ) ) ) {
		load_form_script();
	}
}

/** Print the fields that the script and programs fill in; the script looks for forms with a box. */
function print_registration_fields(): void {
	if ( judges_registrations() ) {
		add_honeypot();
		printf( '<textarea hidden name="%s" aria-hidden="true" tabindex="-1"></textarea>', esc_attr( FORM_FIELD ) );
	}
}

/**
 * Refuse a registration that is clearly spam.
 *
 * @param \WP_Error $errors What others found.
 * @param string    $login  The name.
 * @param string    $email  The address.
 */
function judge_registration( $errors, $login, $email ) {
	if ( ! $errors->has_errors() && is_refused_registration( $login, $email ) ) {
		$errors->add( 'slopsieve', refusal() );
	}
	return $errors;
}

/**
 * Refuse a registration in a network of blogs that is clearly spam.
 *
 * @param array $result What others found.
 */
function judge_signup( $result ) {
	// phpcs:ignore WordPress.Security.NonceVerification.Missing -- WordPress has looked at it; only the step is read.
	$is_first = isset( $_POST['stage'] ) && 'validate-user-signup' === $_POST['stage'];
	if ( $is_first && ! $result['errors']->has_errors() && is_refused_registration( $result['user_name'], $result['user_email'] ) ) {
		$result['errors']->add( 'generic', refusal() );
	}
	return $result;
}

/** Return what somebody reads who may not register. */
function refusal(): string {
	return esc_html__( 'This registration was taken for spam. If it is none, please write to whoever runs this site.', 'slopsieve' );
}

/** Say whether a registration is clearly spam, and the site rejects what is. */
function is_refused_registration( string $login, string $email ): bool {
	if ( ! judges_registrations() || current_user_can( 'create_users' ) ) {
		return false;
	}
	// There are no words to judge, only who sends and how the form was filled in.
	$case = ask_once(
		array(
			'text'   => ' ',
			'author' => array(
				'name'  => $login,
				'email' => $email,
			),
		)
	);
	return 'reject' === ( $case['action'] ?? '' ) && 'spam' === ( $case['verdict']['outcome'] ?? '' );
}
