<?php
/**
 * Has messages of contact forms judged: those of Contact Form 7 and of WPForms.
 *
 * Their own ways of treating spam hold: whoever sent it is told so, and what they keep of spam they
 * keep. What the service is unsure of is delivered, marked. There is no Pending for a message.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const MOST_MESSAGE_BYTES = 60000;

add_filter( 'wpcf7_form_elements', __NAMESPACE__ . '\\add_honeypot_to_form' );
add_filter( 'wpcf7_posted_data', __NAMESPACE__ . '\\keep_evidence_out' );
add_filter( 'wpcf7_spam', __NAMESPACE__ . '\\judge_contact_form_7', 20, 2 );
add_filter( 'wpcf7_mail_components', __NAMESPACE__ . '\\mark_contact_form_7', 10, 3 );
add_action( 'wpcf7_enqueue_scripts', __NAMESPACE__ . '\\load_script_for_messages' );

add_action( 'wpforms_display_submit_before', __NAMESPACE__ . '\\add_honeypot_to_wpforms' );
add_action( 'wpforms_process', __NAMESPACE__ . '\\judge_wpforms', 20, 3 );
add_filter( 'wpforms_entry_email_atts', __NAMESPACE__ . '\\mark_wpforms' );
add_action( 'wpforms_frontend_js', __NAMESPACE__ . '\\load_script_for_messages' );

/** Say whether messages are judged: unless that was switched off. */
function judges_messages(): bool {
	return is_set_up() && is_chosen( 'contact_forms', true );
}

/** Load the service's script where a contact form is. */
function load_script_for_messages(): void {
	if ( judges_messages() ) {
		load_form_script();
	}
}

/**
 * Add the field that only programs fill in to a form of Contact Form 7.
 *
 * @param string $html The form.
 */
function add_honeypot_to_form( $html ) {
	return judges_messages() ? $html . honeypot() : $html;
}

/** Print the field that only programs fill in into a form of WPForms. */
function add_honeypot_to_wpforms(): void {
	if ( judges_messages() ) {
		add_honeypot();
	}
}

/**
 * Keep our own fields out of what Contact Form 7 mails and stores.
 *
 * @param array $posted What was sent.
 */
function keep_evidence_out( $posted ) {
	return is_array( $posted ) ? array_diff_key( $posted, array( HONEYPOT => 1, FORM_FIELD => 1 ) ) : $posted;
}

/**
 * Call a message of Contact Form 7 spam, which then treats it as it treats spam.
 *
 * @param bool              $spam       What others found.
 * @param \WPCF7_Submission $submission The message.
 */
function judge_contact_form_7( $spam, $submission ) {
	if ( $spam || ! judges_messages() ) {
		return $spam;
	}
	$parts = array();
	foreach ( $submission->get_contact_form()->scan_form_tags() as $tag ) {
		$parts[] = array( $tag->basetype, $tag->name, $submission->get_posted_data( $tag->name ) );
	}
	$reasons = reasons_against( message_of( $parts ) );
	if ( null !== $reasons ) {
		$submission->add_spam_log(
			array(
				'agent'  => 'slopsieve',
				'reason' => $reasons,
			)
		);
	}
	return null !== $reasons;
}

/**
 * Mark the mail to the site's people where the service was unsure; a copy to the sender stays as it is.
 *
 * @param array             $components The mail's parts.
 * @param mixed             $form       The form.
 * @param \WPCF7_Mail|null  $mail       Which mail it is.
 */
function mark_contact_form_7( $components, $form = null, $mail = null ) {
	if ( is_unsure() && ( ! $mail || 'mail' === $mail->name() ) ) {
		$components['subject'] = marked( $components['subject'] ?? '' );
	}
	return $components;
}

/**
 * Call a message of WPForms spam: since 1.8.3 it keeps spam where a form says so, before it refuses it.
 *
 * @param array $fields The fields as they were read.
 * @param array $entry  What was sent.
 * @param array $form   The form.
 */
function judge_wpforms( $fields, $entry, $form ): void {
	if ( ! judges_messages() ) {
		return;
	}
	// How it hands out its parts has changed with 1.8.
	$process = method_exists( wpforms(), 'obj' ) ? wpforms()->obj( 'process' ) : wpforms()->process;
	if ( ! $process || ! empty( $process->errors[ $form['id'] ] ) ) {
		return;
	}
	$parts = array();
	foreach ( $fields as $field ) {
		$parts[] = array( $field['type'] ?? '', $field['name'] ?? '', $field['value'] ?? '' );
	}
	if ( null === reasons_against( message_of( $parts ) ) ) {
		return;
	}
	$words = array( 'header' => esc_html__( 'Your message was taken for spam and not sent. If it is none, please say it in other words or reach us otherwise.', 'slopsieve' ) );
	if ( property_exists( $process, 'spam_errors' ) ) {
		$process->spam_errors[ $form['id'] ] = $words;
		$process->spam_reason                = 'Slopsieve';
	} else {
		$process->errors[ $form['id'] ] = $words;
	}
}

/**
 * Mark the mail of a message of which the service was unsure.
 *
 * @param array $mail The mail's parts.
 */
function mark_wpforms( $mail ) {
	if ( is_unsure() ) {
		$mail['subject'] = marked( $mail['subject'] ?? '' );
	}
	return $mail;
}

/** Return a subject that says that the service is unsure. */
function marked( string $subject ): string {
	return __( '[Spam?]', 'slopsieve' ) . ' ' . $subject;
}

/**
 * Return a message from a form's fields, each with its kind, its name and what was entered.
 *
 * @param array[] $parts The fields.
 */
function message_of( array $parts ): array {
	$author = array();
	$texts  = array();
	foreach ( $parts as list( $kind, $name, $value ) ) {
		$value = is_string( $value ) ? trim( $value ) : '';
		$as    = 'text' === $kind && preg_match( '/name/i', $name ) ? 'name' : $kind;
		if ( '' === $value ) {
			continue;
		} elseif ( in_array( $as, array( 'name', 'email', 'url' ), true ) && ! isset( $author[ $as ] ) ) {
			$author[ $as ] = $value;
		} elseif ( in_array( $kind, array( 'text', 'textarea' ), true ) ) {
			$texts[] = $value;
		}
	}
	return array(
		'text'   => mb_strcut( implode( "\n\n", $texts ), 0, MOST_MESSAGE_BYTES ),
		'author' => $author,
	);
}

/** Return why a message is kept from its reader, null where it is delivered: also where nobody can say. */
function reasons_against( array $message ): ?string {
	is_unsure( false );
	if ( '' === $message['text'] || current_user_can( 'moderate_comments' ) ) {
		return null;
	}
	$case    = ask_once( $message );
	$outcome = $case['verdict']['outcome'] ?? '';
	// Publish is what a site in mode observe answers, whatever it thinks.
	if ( '' === $outcome || 'publish' === $case['action'] ) {
		return null;
	}
	is_unsure( 'spam' !== $outcome );
	return 'spam' === $outcome ? short( implode( ' ', (array) ( $case['verdict']['explanation'] ?? array() ) ) ) : null;
}

/**
 * Say whether the service was unsure of this request's message.
 *
 * @param bool ...$given Nothing to ask; what is so from now on.
 */
function is_unsure( ...$given ): bool {
	static $unsure = false;
	if ( $given ) {
		$unsure = $given[0];
	}
	return $unsure;
}
